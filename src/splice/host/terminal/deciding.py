"""What the host asks, answered by words: calls of tools, commands to start, bounds of a turn, results, folders."""

from collections.abc import Iterator

from splice.host.asked import Answer, Approval, Decision, Filled, Goon, Json, ResultReview, RootsAsked, Trust
from splice.host.items import Call, Tool
from splice.host.terminal import words
from splice.host.terminal.filling import Left, fill
from splice.host.terminal.talk import Here, Talk

HELP = (
    "once: this call. chat: this tool until the chat ends. always: for ever, for the tool or its server. "
    "edit: change the arguments first. deny: no. why: no, with a reason for the model. later: decide later."
)


async def approve(here: Here, asked: Approval) -> Answer | None:
    """Ask whether a call may run."""
    call, tool = here.board.get(asked.call, Call), here.board.get(asked.tool, Tool)
    arguments: Json = None
    options = ("once", "chat", "always") if asked.may_always and not asked.is_grave else ("once",)

    def show() -> None:
        for line in _approval(here, asked, call, tool):
            here.talk.tell(line)
        for line in _arguments(call, arguments):
            here.talk.tell(line)

    show()
    while True:
        word = await here.talk.choose(*options, "edit", "deny", "why", "later", "help", again=show)
        if word == "help":
            here.talk.tell(HELP)
        elif word == "edit":
            arguments = await _edited(here.talk, call, tool, arguments)
            show()
        elif word == "later":
            return None
        elif word in ("deny", "why"):
            return Decision("deny", await here.talk.ask("Why, in a sentence for the model:") if word == "why" else "")
        elif (answer := await _allowed(here.talk, word, asked, call, arguments)) is not None:
            return answer


async def _allowed(talk: Talk, word: str, asked: Approval, call: Call | None, arguments: Json) -> Decision | None:
    if asked.is_grave:
        name = call.tool if call else asked.tool
        if await talk.ask(f"Type {name} to allow it once:") != name:
            talk.tell("That is not its name, so nothing is allowed.")
            return None
    if word == "once":
        return Decision("once", arguments=arguments)
    if word == "chat":
        return Decision("chat", arguments=arguments)
    scope = await talk.choose("tool", "server", "back", again=lambda: talk.tell("Always for this tool, or its server?"))
    if scope == "back":
        return None
    return Decision("tool" if scope == "tool" else "server", arguments=arguments)


def _approval(here: Here, asked: Approval, call: Call | None, tool: Tool | None) -> Iterator[str]:
    name = f"{call.server} {call.tool}" if call else asked.tool
    yield f"{here.name}: allow {name}? {words.claims(tool).replace(' · ', ', ')}".rstrip(".") + "."
    yield f"  {asked.asker} asks. Why you are asked: {asked.why}."
    if asked.loud:
        yield f"  Warning: {asked.loud}"


def _arguments(call: Call | None, edited: Json) -> Iterator[str]:
    if edited is not None:
        yield "  You edited the arguments:"
    arguments: Json = edited if edited is not None else call.arguments if call else {}
    for name, value in words.members(arguments).items():
        lines = words.lines_of(value)
        for number, line in enumerate(lines, 1):
            count = words.hidden(line)
            warning = f" Warning: {count} hidden character{'s' * (count > 1)}." if count else ""
            place = f", line {number} of {len(lines)}" if len(lines) > 1 else ""
            yield f"  {name}{place}: {line}{'.' * bool(warning)}{warning}"


async def _edited(talk: Talk, call: Call | None, tool: Tool | None, edited: Json) -> Json:
    known = words.members(edited if edited is not None else call.arguments if call else {})
    try:
        return await fill(talk, tool.schema if tool else {}, known, for_tool=True)
    except Left:
        return edited


async def trust(here: Here, asked: Trust) -> Answer | None:
    """Ask whether a server of the project may be started."""

    def show() -> None:
        does = "It gets what is said to it" if asked.is_remote else "It runs as you"
        where = f"{'written meanwhile into' if asked.is_own else 'named in'} {asked.source}"
        here.talk.tell(f"{here.name}: trust {here.question.server}, {where}? {does}.")
        for number, word in enumerate(asked.words, 1):
            here.talk.tell(f"  Word {number} of {len(asked.words)}: {word}")
        for mark, word in asked.before or ():
            if mark != " ":
                here.talk.tell(f"  {'New since you trusted it' if mark == '+' else 'Gone since then'}: {word}")
        here.talk.tell(f"  It gets these variables: {', '.join(asked.variables) or 'none'}.")
        for each in asked.ignored:
            here.talk.tell(f"  The file also says {each}; that is not done.")

    show()
    word = await here.talk.choose("trust", "not", "later", again=show)
    return None if word == "later" else Decision("once" if word == "trust" else "deny")


async def go_on(here: Here, asked: Goon) -> Answer | None:
    """Ask whether a turn that is long goes on."""

    def show() -> None:
        here.talk.tell(f"{here.name}: {asked.what}. Go on?")

    show()
    return Decision("once" if await here.talk.choose("yes", "no", again=show) == "yes" else "deny")


async def review_result(here: Here, asked: ResultReview) -> Answer | None:
    """Ask whether the model may read a result."""
    call = here.board.get(asked.call, Call)

    def show() -> None:
        here.talk.tell(f"{here.name}: may the model read what {call.tool if call else 'the tool'} said?")
        for block in call.result if call else ():
            for line in (block.text or f"{block.type} {block.mime_type}").split("\n"):
                here.talk.tell(f"  {line}")

    show()
    word = await here.talk.choose("yes", "no", "later", again=show)
    return None if word == "later" else Decision("once" if word == "yes" else "deny")


async def name_roots(here: Here, asked: RootsAsked) -> Answer | None:
    """Ask which folders a server may know."""

    def show() -> None:
        here.talk.tell(f"{here.name}: {here.question.server} asks which folders it may work in.")
        here.talk.tell("  This is a wish, not a wall: the server can read what you can read.")
        for number, uri in enumerate(asked.known, 1):
            here.talk.tell(f"  {number}: {uri}")

    show()
    while True:
        line = await here.talk.ask("Answer with numbers, all, none or later:")
        if line == "later":
            return None
        if line in ("all", "none"):
            return Filled("accept", {"uris": asked.known if line == "all" else []})
        numbers = line.replace(",", " ").split()
        if numbers and all(each.isdecimal() and 1 <= int(each) <= len(asked.known) for each in numbers):
            return Filled("accept", {"uris": [asked.known[int(each) - 1] for each in numbers]})
        show()
