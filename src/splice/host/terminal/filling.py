"""A form filled in by lines: field by field, `back` returns, then a review."""

from collections.abc import Mapping

from splice.host.asked import Json
from splice.host.asking.forms import BadForm, Field, check, fields, read, written
from splice.host.terminal.talk import Talk


class Left(Exception):
    """The user left the form: ``decline``, ``cancel`` or ``later``."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


_LEAVES = {"decline", "cancel", "later"}


async def fill(talk: Talk, schema: Json, known: Mapping[str, Json], *, for_tool: bool = False) -> dict[str, Json]:
    """Ask for each field, show all of it, and return the values once the user sends them. Raises `Left`, `Over`."""
    try:
        asked = fields(schema, for_tool=for_tool)
    except BadForm as error:
        talk.tell(str(error))
        raise Left("cancel") from None
    values = {field.name: known.get(field.name, field.default) for field in asked}
    asking = list(range(len(asked)))
    while True:
        at = 0
        while at < len(asking):
            at = max(0, at + await _field(talk, asked, asking[at], values))
        sent = {name: value for name, value in values.items() if value is not None}
        wrong = check(schema, sent, for_tool=for_tool)
        asking = [place for place, field in enumerate(asked) if field.name in wrong]
        for name, why in wrong.items():
            talk.tell(f"  {name or 'The form'}: {why}. Nothing has left yet.")
        if not asking and (place := await _review(talk, asked, values)) is not None:
            asking = [place]
        elif not wrong:
            return sent


async def _field(talk: Talk, asked: list[Field], at: int, values: dict[str, Json]) -> int:
    """Ask for one field; return 1 to go on, 0 to ask again, -1 to go back."""
    field = asked[at]
    talk.tell(f"Field {at + 1} of {len(asked)}: {field.title}{', required' if field.is_required else ''}.")
    for line in filter(None, (field.description, field.hint)):
        talk.tell(f"  {line}")
    if field.is_secret:
        talk.tell("  Warning: servers must not ask for secrets this way.")
    for number, (_, label) in enumerate(field.choices, 1):
        talk.tell(f"  {number}: {label}")
    now = values[field.name]
    kept = f" (an empty line keeps {written(field, now)})" if now is not None else ""
    line = await talk.ask(f"{field.title}{kept}:")
    if line in _LEAVES:
        raise Left(line)
    if line == "back":
        return -1
    if not line and now is not None:
        return 1
    try:
        values[field.name] = read(field, _chosen(field, line))
    except ValueError as error:
        talk.tell(f"  {error}.")
        return 0
    if field.is_required and values[field.name] is None:
        talk.tell(f"  {check({'type': 'object', 'required': [field.name]}, {}, for_tool=True)[field.name]}.")
        return 0
    return 1


def _chosen(field: Field, line: str) -> Json:
    """Read numbers of choices, where choices were numbered."""
    labels = {str(number): value for number, (value, _) in enumerate(field.choices, 1)}
    if field.kind == "many":
        return [labels.get(part.strip(), part.strip()) for part in line.split(",") if part.strip()]
    return labels.get(line, line) if field.choices else line


async def _review(talk: Talk, asked: list[Field], values: Mapping[str, Json]) -> int | None:
    """Show all values; return the place of the field to change, or None to send them."""
    talk.tell("Review:")
    for number, field in enumerate(asked, 1):
        talk.tell(f"  {number}: {field.title}: {written(field, values[field.name]) or 'empty'}")
    while True:
        line = await talk.ask("Answer send, change NUMBER, decline, cancel or later:")
        word, _, rest = line.partition(" ")
        if word in _LEAVES:
            raise Left(word)
        if word in ("send", "s"):
            return None
        if word == "change" and rest.isdecimal() and 1 <= int(rest) <= len(asked):
            return int(rest) - 1
        if line:
            talk.tell(f"{line} is none of these words. Nothing has left yet.")
