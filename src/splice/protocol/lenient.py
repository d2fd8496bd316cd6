"""The second reading of params and results that do not fit their type: what a peer clearly meant is taken.

It descends only where something does not fit, and takes

- numbers and booleans written as text, and 12.0 for 12;
- null for a member that has a default, as absent;
- objects without members that must be there, where the type says what is assumed (`Wire.assumed`);
- lists of tools, prompts and resources, without the items that cannot be used;
- hints, also those for caches, without the members that cannot be used;
- content of an unknown type, as `UnknownContent`.

JSON that stays unread (schemas, arguments, `_meta`, structured content) is never looked into. Everything that is
changed is told to a `Remark`. The whole list, with the reasons, is in `docs/design/leniency.md`.
"""

import re
from collections.abc import Iterator
from functools import cache
from logging import Logger
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import Raw, Struct, ValidationError
from msgspec.structs import fields

from splice.protocol import content, jsonrpc, wire

MAX_CHANGES = 10_000
"""How many faults of one text are put right. Each costs more time than a hundred members that fit."""

MAX_PARTS = 1_000_000
"""How many commas a list may hold that is read item by item."""

MAX_REMARKS = 100
"""How many different remarks about one peer are logged."""

T = TypeVar("T")

_CACHING = ("ttl_ms", "cache_scope")
_INDEX = re.compile(r"\[\d+\]")
_SHOWN_BYTES = 60
_SHOWN_CHARACTERS = 300


class Remarks:
    """Warns of what was changed in a peer's messages, once for each kind of change."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._seen: set[str] = set()

    def __call__(self, remark: str) -> None:
        """Log a remark that was not made before."""
        remark = remark[:_SHOWN_CHARACTERS]
        kind = _INDEX.sub("[]", remark)
        if kind not in self._seen and len(self._seen) < MAX_REMARKS:
            self._seen.add(kind)
            self._log.warning("the server breaks the rules of the protocol: %s", remark)


def read(text: bytes | Raw, kind: type[T], remark: jsonrpc.Remark | None = None, where: str = "$") -> T:
    """Read JSON that does not fit `kind`, and stands at `where`. Raises what `msgspec.json.decode` raises."""
    left = iter(range(MAX_CHANGES))

    def change(what: str) -> None:
        if next(left, None) is None:
            raise ValidationError(f"More than {MAX_CHANGES} faults")
        if remark is not None:
            remark(what)

    return cast("T", _value(text, kind, where, change))


def _value(text: bytes | Raw, kind: Any, where: str, remark: jsonrpc.Remark) -> Any:
    """Read a value of any type: as it is, or part by part if that fails."""
    try:
        return _decode(text, kind, where)
    except ValidationError as error:
        why = error
    choices = _choices(kind)
    structs: list[type[Struct]] = [each for each in choices if isinstance(each, type) and issubclass(each, Struct)]
    lists = [each for each in choices if get_origin(each) is list]
    opening = bytes(text).lstrip()[:1]
    if opening == b"{" and structs:
        return _object(text, structs, where, remark)
    if opening == b"[" and lists:
        (item,) = get_args(lists[0])
        return [_value(each, item, path, remark) for path, each in _items(text, where)]
    value = _decode(text, kind, where, strict=False)
    remark(f"{why}: read as {value!a}")
    return value


def _object(text: bytes | Raw, structs: list[type[Struct]], where: str, remark: jsonrpc.Remark) -> Any:
    """Read an object as the one Struct that it may be, or as that of its `type`."""
    members = _decode(text, dict[str, Raw], where)
    if len(structs) == 1:
        return _struct(members, structs[0], where, remark)
    tag = _decode(members.get("type", jsonrpc.NULL), str, f"{where}.type")
    for kind in structs:
        if kind.__struct_config__.tag == tag:
            return _struct(members, kind, where, remark)
    if content.EmbeddedResource not in structs:
        raise ValidationError(f"Invalid value {tag[:_SHOWN_BYTES]!a} - at `{where}.type`")
    remark(f"content of the unknown type {tag[:_SHOWN_BYTES]!a} - at `{where}`: kept as it is")
    return content.UnknownContent(msgspec.json.decode(text))


def _struct(members: dict[str, Raw], kind: type[Struct], where: str, remark: jsonrpc.Remark) -> Any:
    """Build a Struct of the members that came."""
    for name, value in getattr(kind, "assumed", {}).items():
        if members.get(name, jsonrpc.NULL) == jsonrpc.NULL:
            members[name] = value
            remark(f"no `{name}` - at `{where}`: read as {bytes(value).decode()}")
    if kind is content.ResourceContents and members.keys() >= {"text", "blob"}:
        del members["blob"]
        remark(f"both `text` and `blob` - at `{where}`: read as text")
    values: dict[str, Any] = {}
    for field in _fields(kind):
        text, path = members.get(field.encode_name, jsonrpc.NULL), f"{where}.{field.encode_name}"
        if text == jsonrpc.NULL and not field.required:
            continue
        if field.encode_name not in members:
            raise ValidationError(f"Object missing required field `{field.encode_name}` - at `{where}`")
        try:
            listed = issubclass(kind, wire.PageResult) and get_origin(field.type) is list
            values[field.name] = (_usable if listed else _value)(text, field.type, path, remark)
        except ValidationError as error:
            if field.required or not (issubclass(kind, wire.Hints) or field.name in _CACHING):
                raise
            remark(f"{error}: left out")
    try:
        return kind(**values)
    except ValueError as error:
        raise ValidationError(f"{error} - at `{where}`") from None


def _usable(text: Raw, kind: Any, where: str, remark: jsonrpc.Remark) -> list[Any]:
    """Read a list without the items that cannot be used."""
    found: list[Any] = []
    for path, each in _items(text, where):
        try:
            found.append(_value(each, get_args(kind)[0], path, remark))
        except ValidationError as error:
            shown = bytes(each)[:_SHOWN_BYTES].decode(errors="replace")
            remark(f"{error}: left out, beginning {shown!a}")
    return found


def _items(text: bytes | Raw, where: str) -> Iterator[tuple[str, Raw]]:
    """Yield the items of a list, each with its path."""
    if bytes(text).count(b",") > MAX_PARTS:
        raise ValidationError(f"Too many items to be put right - at `{where}`")
    for at, each in enumerate(_decode(text, list[Raw], where)):
        yield f"{where}[{at}]", each


def _decode(text: bytes | Raw, kind: Any, where: str, *, strict: bool = True) -> Any:
    """Read a part of a text. Raises `ValidationError`, which names the path from the root on."""
    try:
        return msgspec.json.decode(text, type=kind, strict=strict)
    except ValidationError as error:
        why = str(error)
    raise ValidationError(why.replace("`$", f"`{where}") if " - at `$" in why else f"{why} - at `{where}`")


def _choices(kind: Any) -> list[Any]:
    """List the types that a value of `kind` may have, None aside."""
    if get_origin(kind) is Annotated:
        return _choices(kind.__origin__)
    if get_origin(kind) in (Union, UnionType):
        return [choice for member in get_args(kind) for choice in _choices(member) if choice is not NoneType]
    return [kind]


_fields = cache(fields)
