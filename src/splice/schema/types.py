"""A Python type as JSON Schema, and as something that decodes.

msgspec does both by itself for most types. Any other type is left to pydantic as a whole, if the user's code imports
it; failing that, the members of a union are tried one after the other.

Decoding stops at the first problem, in words of msgspec or pydantic. So the same JSON is validated against the schema
that was advertised: all problems are found, in the one voice of `validate.py`. What no schema can say, such as a
validator of the user's, is told in the words it raised.
"""

import typing
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import inspect as mi

from splice.schema.annotations import UNIONS, NotJSON, for_msgspec, is_annotated, name_of, notes
from splice.schema.foreign import decode_hook, left_to, strict_adapter
from splice.schema.schemas import NAMES, Schema, any_of, is_object, resolved
from splice.schema.writing import Writer


class Shape(NamedTuple):
    """A type: what msgspec decodes, with `decode_hook`, and the schema."""

    wire: Any
    schema: Schema

    def decode(self, json: bytes) -> Any:
        """Decode one value.

        Raises `ValueError`, or `RecursionError` for a value that nests too deeply.
        """
        return msgspec.json.decode(json, type=self.wire, dec_hook=decode_hook)


class BadArguments(ValueError):
    """Values do not fit the types that were declared for them. The text is short and written for a model."""


class Types(Writer):
    """Reads the types of one schema document."""

    def read(self, kind: Any) -> Shape:
        """Find out how to describe and decode a type.

        Raises `TypeError` for a type that JSON cannot carry.
        """
        if isinstance(kind, type) and kind in NAMES:
            return Shape(kind, {"type": NAMES[kind]})  # most parameters are so simple
        reasons: list[TypeError] = []
        for way in (self._native, self._by_pydantic, self._first_of):
            before = self.defs.copy(), self.names.copy()
            try:
                return way(kind)
            except NotJSON:
                raise
            except TypeError as error:
                reasons.append(error)
                self.defs, self.names = before
            except NameError as error:
                where = f"{name_of(kind)}: the name {error.name!r} in its annotations"
                raise TypeError(f"{where} is not known in its module") from None
        raise TypeError(f"{name_of(kind)} cannot be expressed in JSON Schema: {reasons[0]}")

    def _native(self, kind: Any) -> Shape:
        wire = for_msgspec(kind)
        return Shape(wire, self.write(mi.type_info(wire)))

    def _by_pydantic(self, kind: Any) -> Shape:
        model = strict_adapter(kind)
        return Shape(left_to(model.validate_json), self.adopt(model))

    def _first_of(self, kind: Any) -> Shape:
        """Take the first member of a union that fits."""
        said = notes(getattr(kind, "__metadata__", ()))
        inner = kind.__origin__ if is_annotated(kind) else kind
        if typing.get_origin(inner) not in UNIONS or said.limits or said.foreign:
            raise TypeError
        members = [self.read(member) for member in typing.get_args(inner)]

        def convert(json: bytes) -> Any:
            for member in members:
                try:
                    return member.decode(json)
                except ValueError:
                    continue
            raise ValueError("fits none of several types")

        return Shape(left_to(convert), any_of([member.schema for member in members]) | said.words)


def output_schema(kind: Any, opaque: tuple[type, ...]) -> Schema | None:
    """Describe the result of a function that is annotated with `kind`.

    None for nothing, for plain text, for the types in `opaque` wherever they occur in it, and for anything that JSON
    cannot carry: such results are shown, but have no structure to promise.
    """
    if kind is None or _holds(kind, opaque):
        return None
    types = Types("serialization")
    try:
        schema = types.read(kind).schema
    except TypeError:
        return None
    any_list = schema.get("type") == "array" and not schema.get("items") and not schema.get("prefixItems")
    if not schema or any_list or _is_text(schema):
        return None  # the items of a list of anything may well be content
    root = _rooted(schema, types.defs)
    return root | {"$defs": types.defs} if types.defs else root


def _holds(kind: Any, opaque: tuple[type, ...]) -> bool:
    """Tell whether a type is one of `opaque`, or has one in it."""
    origin = typing.get_origin(kind)
    if any(each is kind or each is origin for each in opaque):
        return True
    if origin is None:
        return isinstance(kind, type) and kind is not Any and issubclass(kind, opaque)
    return any(_holds(inner, opaque) for inner in typing.get_args(kind))


def _is_text(schema: Schema) -> bool:
    members: list[Schema] = schema.get("anyOf", [schema])
    return all(
        member.keys() <= {"type", "description"} and member.get("type") in ("string", "null") for member in members
    )


def _rooted(schema: Schema, defs: dict[str, Schema]) -> Schema:
    """Put the definition of the result itself at the root, where clients look for `type`."""
    root, reference = resolved(schema, defs), str(schema.get("$ref"))
    if f'"{reference}"' not in msgspec.json.encode(defs).decode():
        defs.pop(reference.removeprefix("#/$defs/"), None)
    return root


def bad_arguments(
    schema: Schema, given: Any, error: ValueError, shapes: Mapping[str, Shape] | None = None
) -> BadArguments:
    """Explain why decoding `given` failed with `error`; `shapes` are the types of its members, if they are known."""
    from splice.schema.validate import BadSchema, Mismatch, Problem, lines, validator  # noqa: PLC0415 - it is not small

    try:
        found = validator(schema, formats=True).problems(given)
    except (BadSchema, Mismatch):
        found = []  # a pattern that only Python understands, for example
    members = given if is_object(given) else {}
    for name, shape in (shapes or {}).items():
        if name not in members:
            continue
        refusal = _refusal(shape, members[name])
        if refusal is None:
            # A format can be stricter than decoding is: nothing is said about an argument that decodes.
            found = [each for each in found if each.path[:1] != (name,)]
        elif all(each.path[:1] != (name,) for each in found):
            found += [Problem((name, *inner), text) for inner, text in _own_words(refusal)]
    return BadArguments(lines(found or [Problem(*words) for words in _own_words(error)], "arguments"))


def _refusal(shape: Shape, value: Any) -> ValueError | None:
    try:
        shape.decode(msgspec.json.encode(value))
    except ValueError as error:
        return error
    return None


def _own_words(error: ValueError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Repeat what a validator of the user's said, or the library that decoded."""
    cause = error.__cause__ or error
    if hasattr(cause, "errors"):
        for each in cast("Any", cause).errors():
            yield tuple(each["loc"]), str(each["msg"]).removeprefix("Value error, ")
    else:
        yield (), str(cause)
