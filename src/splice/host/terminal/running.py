"""What a server is: the exact command or address, where it runs, and the variables that it gets."""

from textual.content import Content

from splice.host.asked import Trust
from splice.host.terminal import drawn
from splice.host.terminal.face import Face


def what_runs(face: Face, asked: Trust) -> list[Content]:
    """Draw it, one word of the command on a line."""
    lines = [drawn.row(("command  ", "$muted"), face.line(asked.words[0] if asked.words else asked.runs))]
    lines += [drawn.row("         ", face.line(word)) for word in asked.words[1:]]
    lines.append(drawn.row(("in       ", "$muted"), face.line(asked.folder)))
    lines.append(drawn.row(("gets     ", "$muted"), face.line(", ".join(asked.variables) or "no variables")))
    lines += [drawn.row(("ignored  ", "$muted"), face.line(each)) for each in asked.ignored]
    return lines
