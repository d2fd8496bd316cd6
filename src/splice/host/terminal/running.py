"""What a server is: the exact command or address, where it runs, and the variables that it gets."""

from textual.content import Content

from splice.host.asked import Trust
from splice.host.terminal import drawn
from splice.host.terminal.face import Face


def what_it_may(asked: Trust) -> str:
    """Say what it can do once it is used: a server elsewhere does not run here."""
    return "It gets what is said to it." if asked.is_remote else "It runs as you, with your files and network."


def what_runs(face: Face, asked: Trust) -> list[Content]:
    """Draw it, one word of the command on a line."""
    label = "address  " if asked.is_remote else "command  "
    lines = [drawn.row((label, "$muted"), face.line(asked.words[0] if asked.words else asked.runs))]
    lines += [drawn.row("         ", face.line(word)) for word in asked.words[1:]]
    if not asked.is_remote:
        lines.append(drawn.row(("in       ", "$muted"), face.line(asked.folder)))
    nothing = "no headers" if asked.is_remote else "no variables"
    lines.append(drawn.row(("gets     ", "$muted"), face.line(", ".join(asked.variables) or nothing)))
    lines += [drawn.row(("ignored  ", "$muted"), face.line(each)) for each in asked.ignored]
    return lines
