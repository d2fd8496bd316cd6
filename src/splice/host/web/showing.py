"""The board as a browser gets it: items as JSON, with what it cannot make itself.

That is the Markdown of messages and results, the fields of forms, and bounds: a result of 5 MB is begun, and the rest
is read when it is asked for. What a person decides about is never cut.
"""

import json
from typing import Any
from urllib.parse import urlsplit

import msgspec

from splice.host.asked import Approval, Form, Json, Visit
from splice.host.asking.forms import BadForm, check, fields
from splice.host.board import Batch, Board, Event
from splice.host.items import Block, Call, Item, Message, Question, Tool
from splice.host.text import as_json
from splice.host.web.rendering import beyond, blocks
from splice.schema.schemas import is_array, is_object

PAGE_CHARACTERS = 64 * 1024
"""How much of a long text is sent at once."""

PLAIN_CHARACTERS = 8 * 1024
"""How much plain text stands under the part of a result that is rendered."""

MAX_TEXT = 20_000
"""How much of a description is sent, and of whatever else a server says of itself."""

MAX_LABEL = 500
"""How much of a name or a title: they stand in lists, each in one line, and take a browser a second by the megabyte."""

_WHOLE = {"id", "arguments", "asked_arguments", "result", "structured", "text", "asked"}
"""What commands are given by, what a person decides about, and what has bounds of its own."""


class Showing:
    """Writes items for browsers; each state of an item once for all of them."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._written: dict[str, tuple[int, bytes]] = {}

    def batch(self, batch: Batch) -> bytes:
        """Write what changed, as one JSON object."""
        if batch.everything:
            self._written = {each.id: self._written[each.id] for each in batch.events if each.id in self._written}
        head = b'{"number":%d,"everything":%s,"events":[' % (batch.number, b"true" if batch.everything else b"false")
        return head + b",".join(map(self._event, batch.events)) + b"]}"

    def _event(self, event: Event) -> bytes:
        known = self._written.get(event.id)
        if known is not None and known[0] == event.number:
            return known[1]
        written = _json({"number": event.number, "id": event.id, "item": self._item(event.item)})
        if event.item is None:
            self._written.pop(event.id, None)
        else:
            self._written[event.id] = (event.number, written)
        return written

    def _item(self, item: Item | None) -> Json:
        plain: Json = msgspec.to_builtins(item)
        if is_object(plain):
            plain = {name: each if name in _WHOLE else _bounded(each, name) for name, each in plain.items()}
        match item:
            case Message(role="model"):
                plain |= _rendered(item.text)
            case Call():
                plain["result"] = [_block(each) for each in item.result]
                plain |= _structured(item.structured)
            case Question():
                plain["asked"] |= self._extra(item)
            case _:
                pass
        return plain

    def _extra(self, question: Question) -> dict[str, Any]:
        """Say of a question what a browser cannot find out."""
        match question.asked:
            case Form(schema=schema):
                return _form(schema, for_tool=False)
            case Approval(tool=id):
                tool = self._board.get(id, Tool)
                return _form(tool.schema if tool else {}, for_tool=True)
            case Visit(url=url):
                return {"pieces": pieces(url)}
            case _:
                return {}

    def problems(self, question: str, values: dict[str, Json]) -> dict[str, str]:
        """Say what is wrong with the values of a form, or the edited arguments of a call, by field."""
        asked = self._board.get(question, Question)
        match asked.asked if asked else None:
            case Form(schema=schema):
                return check(schema, values)
            case Approval(tool=id):
                tool = self._board.get(id, Tool)
                return check(tool.schema, values, for_tool=True) if tool else {}
            case _:
                return {}

    def text(self, call: str, block: int, start: int) -> dict[str, Json]:
        """Read on in a long text of a result. Raises `KeyError` when there is none."""
        found = self._board.get(call, Call)
        if found is None or not 0 <= block < len(found.result):
            raise KeyError(call)
        whole = found.result[block].text
        start = max(start, 0)
        return {"text": whole[start : start + PAGE_CHARACTERS], "next": start + PAGE_CHARACTERS, "size": len(whole)}


def pieces(url: str) -> list[str]:
    """Cut a URL into what stands before the host, the host, and what stands behind it."""
    try:
        place = urlsplit(url).netloc
    except ValueError:
        place = ""
    start = url.find("//") + 2
    if not place or start == 1 or url[start : start + len(place)] != place:
        return [url, "", ""]
    start += place.rfind("@") + 1
    named = place.rpartition("@")[2]
    size = named.find("]") + 1 if named.startswith("[") else len(named.partition(":")[0])
    return [url[:start], url[start : start + size], url[start + size :]]


def _bounded(value: Json, name: str = "") -> Json:
    """Cut what is too long to be shown, and say so."""
    if isinstance(value, str):
        most = MAX_LABEL if name in ("name", "title") else MAX_TEXT
        return value if len(value) <= most else f"{value[:most]}… ({len(value) - most:,} more characters)"
    if is_array(value):
        return [_bounded(each, name) for each in value]
    if is_object(value):
        return {_bounded(key, "name"): _bounded(each, key) for key, each in value.items()}
    return value


def _form(schema: Json, *, for_tool: bool) -> dict[str, Any]:
    try:
        return {"fields": msgspec.to_builtins(fields(schema, for_tool=for_tool))}
    except BadForm as error:
        return {"fields": [], "problem": str(error)}


def _rendered(text: str) -> dict[str, Any]:
    rest = beyond(text)
    plain = {"rest": rest[:PLAIN_CHARACTERS], "left": max(len(rest) - PLAIN_CHARACTERS, 0)} if rest else {}
    return {"text": text[:PAGE_CHARACTERS], "html": blocks(text), **plain}


def _block(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(block)
    if block.type in ("text", "resource"):
        plain |= _rendered(block.text)
        plain["size"] = len(block.text)
    return plain


def _structured(value: Json) -> dict[str, Any]:
    if value is None:
        return {}
    text = as_json(value)
    return {"structured": text[:PAGE_CHARACTERS], "structured_left": max(len(text) - PAGE_CHARACTERS, 0)}


def _json(value: Json) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a surrogate pair: JSON can say it, UTF-8 cannot
        return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def encoded(value: Any) -> bytes:
    """Write an answer to a command as JSON, whatever text is in it."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _json(msgspec.to_builtins(value))
