"""What servers ask, answered by words: forms, addresses to visit, and the model."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from splice.host.asked import Answer, Completion, Filled, Form, Json, Reviewed, Sampling, Visit, Weight
from splice.host.board import Board
from splice.host.items import Call
from splice.host.terminal import words
from splice.host.terminal.filling import Left, fill
from splice.host.terminal.hosted import REFUSED
from splice.host.terminal.talk import Here, Talk
from splice.host.text import as_json


def during(board: Board, call: str) -> str:
    """Say during which call something is asked; empty if it is not known."""
    found = board.get(call, Call)
    return f"during {found.tool}" if found else ""


async def fill_form(here: Here, asked: Form) -> Answer | None:
    """Ask for the fields of a form."""
    asker = here.question.server or ("The model" if asked.call else "Splice")
    here.talk.tell(f"{here.name}: {asker} asks you {during(here.board, asked.call)}".rstrip() + ".")
    for line in asked.message.split("\n"):
        here.talk.tell(f"  {line}")
    for name in asked.secrets:
        here.talk.tell(f"  Warning: {name} looks like a secret. Servers must not ask for secrets this way.")
    here.talk.tell("  At any field: back, decline, cancel (the call) or later.")
    try:
        return Filled("accept", await fill(here.talk, asked.schema, words.members(asked.draft)))
    except Left as left:
        if left.word == "later":
            return None
        return Filled("decline" if left.word == "decline" else "cancel")


async def visit(here: Here, asked: Visit) -> Answer | None:
    """Ask whether to open an address."""

    def show() -> None:
        here.talk.tell(f"{here.name}: {here.question.server} asks you to open an address at {asked.host}.")
        for line in (*asked.message.split("\n"), asked.url, *(f"Warning: {each}." for each in asked.warnings)):
            here.talk.tell(f"  {line}")

    show()
    word = await here.talk.choose("open", "decline", "cancel", "later", again=show)
    if word in ("decline", "cancel"):
        return Filled("decline" if word == "decline" else "cancel")
    if word == "later":
        return None
    try:
        await here.host.visit(here.question.id)
    except REFUSED as error:
        here.talk.tell(f"Not opened: {error}. Open the address above yourself, if you want to.")
    word = await here.talk.choose("done", "cancel", again=show)
    return Filled("accept" if word == "done" else "cancel")


class Said(Struct, frozen=True):
    """A message of a sampling that is one text."""

    place: int
    role: str
    text: str


def texts(messages: Json) -> list[Said]:
    """List the messages that are text, so can be edited; others are sent as they are."""
    found: list[Said] = []
    for place, message in enumerate(words.elements(messages)):
        role, content = words.members(message).get("role"), words.members(message).get("content")
        blocks = words.elements(content)
        block = words.members(blocks[0] if len(blocks) == 1 else content)
        if block.get("type") == "text" and isinstance(text := block.get("text"), str):
            found.append(Said(place, str(role), text))
    return found


def edited(messages: Json, place: int, text: str) -> list[Json]:
    """Put another text into a message."""
    made = list(words.elements(messages))
    content = words.members(made[place]).get("content")
    block: Json = {"type": "text", "text": text}
    made[place] = {**words.members(made[place]), "content": [block] if words.elements(content) else block}
    return made


def others(messages: Json) -> list[str]:
    """Say what the messages that are not text hold."""
    known = {said.place for said in texts(messages)}
    rest: Sequence[Json] = words.elements(messages)
    return [words.short(each) for place, each in enumerate(rest) if place not in known]


def sums(asked: Sampling) -> list[tuple[str, str]]:
    """List what a person should know of a sampling, each fact under its name."""
    why = [f"{each.model}: {_sum(each)} = {each.total:g}" for each in asked.weights]
    facts = [
        ("Model", asked.model),
        ("Why", "; ".join((asked.why, *why))),
        ("Size", f"at most {asked.max_tokens:,} tokens out; you grant {asked.cap:,}"),
        ("Limit", asked.rate),
        ("Tools", _brought(asked)),
        ("Stops at", ", ".join(asked.stops)),
        ("Temperature", "" if asked.temperature is None else f"{asked.temperature:g}"),
        ("Asks for", f"your chat ({asked.context}): not given" if asked.context else ""),
    ]
    return [(name, told) for name, told in facts if told]


def _sum(weight: Weight) -> str:
    """Write the sum by which a model was weighed."""
    return " + ".join(f"{share:g} x {value:g} {name}" for name, share, value in weight.parts)


def _brought(asked: Sampling) -> str:
    """Name the tools that a server brings for the model, and whether the model has to use them."""
    uses = {"required": "; the model must use one", "none": "; the model may use none"}.get(asked.tool_choice, "")
    names = [words.short(words.members(each).get("name", "")) for each in words.elements(asked.definitions)]
    return ", ".join(names) + uses if names else ""


def definitions(asked: Sampling) -> list[tuple[str, str]]:
    """Write out the tools that a server brings: the model reads all of it, so the user can."""
    found: list[tuple[str, str]] = []
    for number, each in enumerate(words.elements(asked.definitions), 1):
        known = dict(words.members(each))
        told = [f"{known.pop('name', '')}: {known.pop('description', None) or 'no description'}", as_json(known)]
        name = f"Tool {number} of {len(words.elements(asked.definitions))}, which the model may use for the server"
        found.append((name, "\n".join(told)))
    return found


async def review_sampling(here: Here, asked: Sampling) -> Answer | None:
    """Ask whether a model may answer a server."""
    answer = Reviewed("once")

    def show() -> None:
        name = f"{here.name}: {here.question.server}"
        here.talk.tell(f"{name} wants the model {during(here.board, asked.call)}".rstrip() + ".")
        for line in _sampling(asked, answer):
            here.talk.tell(f"  {line}")

    show()
    options = ("once", "chat", "edit", "model", *(["include"] if asked.context else []), "deny", "later")
    while True:
        word = await here.talk.choose(*options, again=show)
        if word in ("deny", "later"):
            return Reviewed("deny") if word == "deny" else None
        if word in ("once", "chat"):
            return replace(answer, verdict=word)
        answer = await _changed(here.talk, word, asked, answer)
        show()


def _sampling(asked: Sampling, answer: Reviewed) -> Iterator[str]:
    yield f"System prompt: {asked.system if answer.system is None else answer.system}"
    messages = answer.messages or asked.messages
    for said in texts(messages):
        yield from (f"From {said.role}: {line}" for line in said.text.split("\n"))
    yield from (f"Also sent: {line}" for line in others(messages))
    for name, told in definitions(asked):
        yield f"{name}:"
        yield from (f"  {line}" for line in told.split("\n"))
    yield from (f"{name}: {told}." for name, told in sums(asked))
    if answer.shares_chat:
        yield "Your chat goes along, once."


async def _changed(talk: Talk, word: str, asked: Sampling, answer: Reviewed) -> Reviewed:
    if word == "include":
        return replace(answer, shares_chat=True)
    if word == "model":
        named = await talk.ask(f"Which of {', '.join(asked.models)}:")
        return replace(answer, model=named if named in asked.models else answer.model)
    return await _edit(talk, asked, answer)


async def _edit(talk: Talk, asked: Sampling, answer: Reviewed) -> Reviewed:
    system = await talk.ask("System prompt (an empty line keeps it):")
    messages: Json = answer.messages or asked.messages
    for said in texts(messages):
        text = await talk.ask(f"Message {said.place + 1} from {said.role} (an empty line keeps it):")
        messages = edited(messages, said.place, text) if text else messages
    return replace(answer, system=system or answer.system, messages=messages)


async def review_completion(here: Here, asked: Completion) -> Answer | None:
    """Ask whether a server gets what the model said."""

    def show() -> None:
        here.talk.tell(f"{here.name}: may {here.question.server} have the answer of {asked.model}?")
        for line in asked.text.split("\n"):
            here.talk.tell(f"  {line}")
        for each in words.elements(asked.uses):
            here.talk.tell(f"  It wants to use a tool: {words.short(each)}")

    show()
    word = await here.talk.choose("give", "edit", "again", "deny", "later", again=show)
    if word == "edit":
        return Reviewed("once", text=await here.talk.ask("The answer instead:"))
    return {"give": Reviewed("once"), "again": Reviewed("again"), "deny": Reviewed("deny"), "later": None}[word]
