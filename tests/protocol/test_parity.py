"""Our types say what the official schemas of all five versions say, and nothing else.

`data/facts.json` holds the facts (see `data/distill.py`). Every type, field, requirement and version in it is
either matched by our Structs and their marks or named below with a reason, and the other way around; a reason
that explains nothing any more fails, too.
"""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from data import distill
from protocol.wire import BASES, all_rows, marks_of, methods, notes, span_of, wire_types
from splice.protocol import completion, content, jsonrpc, lifecycle, notifications, wire
from splice.protocol.methods import Note
from splice.protocol.versions import VERSIONS, covers

FACTS: dict[str, dict[str, dict[str, str]]] = json.loads((Path(__file__).parents[1] / "data/facts.json").read_text())

ALIASES: dict[str, type[Struct]] = {
    "Error": jsonrpc.ErrorObject,
    "TextResourceContents": content.ResourceContents,
    "BlobResourceContents": content.ResourceContents,
    "ResourceReference": completion.ResourceTemplateReference,
    "RequestMetaObject": lifecycle.RequestMeta,
    "PaginatedResult": wire.PageResult,
    "SubscriptionsListenResult": notifications.ListenResult,
}
"""Where our name is not the specification's."""

_TASKS = "tasks are not served; their types come with the feature"

NOT_OURS = {
    "Annotated": "a base of TypeScript types that has no wire form of its own",
    "Annotated.annotations": "a base of TypeScript types that has no wire form of its own",
    "BaseMetadata": "a base of TypeScript types that has no wire form of its own",
    "Icons": "a base of TypeScript types that has no wire form of its own",
    "ClientResult": "a union of results",
    "ResultMetaObject": "`meta` of results is an open object; its one key is `META_SERVER_INFO`",
    "NotificationMetaObject": "`meta` of notifications is an open object; its one key is `META_SUBSCRIPTION_ID`",
    "SubscriptionsListenResultMetaObject": "`meta` of results is an open object",
    "ParseError": "errors are `ErrorObject`s, their codes are in `errors.py`",
    "InvalidRequestError": "errors are `ErrorObject`s, their codes are in `errors.py`",
    "MethodNotFoundError": "errors are `ErrorObject`s, their codes are in `errors.py`",
    "InvalidParamsError": "errors are `ErrorObject`s, their codes are in `errors.py`",
    "InternalError": "errors are `ErrorObject`s, their codes are in `errors.py`",
    "BooleanSchema": "the schema of a form is JSON",
    "NumberSchema": "the schema of a form is JSON",
    "StringSchema": "the schema of a form is JSON",
    "EnumSchema": "the schema of a form is JSON",
    "LegacyTitledEnumSchema": "the schema of a form is JSON",
    "UntitledSingleSelectEnumSchema": "the schema of a form is JSON",
    "UntitledMultiSelectEnumSchema": "the schema of a form is JSON",
    "UntitledMultiSelectEnumSchema.items": "the schema of a form is JSON",
    "TitledSingleSelectEnumSchema": "the schema of a form is JSON",
    "TitledMultiSelectEnumSchema": "the schema of a form is JSON",
    "TitledMultiSelectEnumSchema.items": "the schema of a form is JSON",
    "Task": _TASKS,
    "RelatedTaskMetadata": _TASKS,
    "CreateTaskResult": _TASKS,
    "GetTaskResult": _TASKS,
    "GetTaskPayloadResult": _TASKS,
    "CancelTaskResult": _TASKS,
    "ListTasksResult": _TASKS,
    "tasks/get": _TASKS,
    "tasks/result": _TASKS,
    "tasks/cancel": _TASKS,
    "tasks/list": _TASKS,
    "tasks/list._meta": _TASKS,
    "notifications/tasks/status": _TASKS,
}
"""What the schemas have and we do not."""

NOT_OUR_VALUES = {"TaskStatus": _TASKS}
"""Named values that the schemas have and we do not."""

NOT_THEIRS = {
    "Params": "a base; each method's params are compared",
    "RetryParams": "a base; each method's params are compared",
    "InputRequest": "the schema has three request types for it; params stay raw until the method is known",
}
"""What we have and the schemas do not have under any name."""

METHODS_NOT_THEIRS: dict[str, str] = {}
"""Methods we have and the schemas do not have: name -> reason."""

_TRACE = "the text names it for every version's `_meta`, the schemas leave it to the open object"
_LENIENT = "required by the newest version only; older peers do not send it, so its absence is legal here"
_EXTENSIONS = "extensions such as MCP Apps are negotiated by it in `initialize`, too; an unknown capability is legal"

DIFFERENT: dict[tuple[str, str], str] = {
    ("RequestMeta", "traceparent"): _TRACE,
    ("RequestMeta", "tracestate"): _TRACE,
    ("RequestMeta", "baggage"): _TRACE,
    ("RequestMeta", "protocol_version"): _LENIENT,
    ("RequestMeta", "client_capabilities"): _LENIENT,
    ("Result", "result_type"): _LENIENT,
    ("CacheableResult", "ttl_ms"): _LENIENT,
    ("CacheableResult", "cache_scope"): _LENIENT,
    ("CacheableResult", "meta"): "the type is only a base before 2026-07-28",
    ("ClientCapabilities", "extensions"): _EXTENSIONS,
    ("ServerCapabilities", "extensions"): _EXTENSIONS,
    ("Params", "meta"): "the early schemas say it once, on `Request`; where it is required, the era checks it",
    ("NoteParams", "meta"): "the early schemas say it once, on `Notification`",
    ("CreateMessageParams", "meta"): "the early schemas say it once, on `Request`",
    ("ElicitParams", "meta"): "the early schemas say it once, on `Request`",
    ("ListenResult", "meta"): "it names the subscription, but a result without it still ends the subscription",
    ("CancelledParams", "request_id"): "2025-11-25 does without, so one that lacks it is ignored, not refused",
    ("ElicitParams", "requested_schema"): "required of forms only, which `__post_init__` checks",
    ("ErrorObject", "code"): "the schemas up to 2025-06-18 write the error without a name; it is the same one",
    ("ErrorObject", "message"): "the schemas up to 2025-06-18 write the error without a name; it is the same one",
    ("ErrorObject", "data"): "the schemas up to 2025-06-18 write the error without a name; it is the same one",
}
"""Fields that differ on purpose, by the Struct that defines them."""

NAMED_VALUES = {
    "LoggingLevel": notifications.LoggingLevel,
    "Role": content.Role,
}


def structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for argument in get_args(annotation):
        yield from structs_in(argument)


def rows() -> Iterator[tuple[str, type[Struct], dict[str, str]]]:
    """Pair every row of the facts with the Struct that stands for it."""
    known = wire_types() | ALIASES
    messages: dict[str, Note[Any]] = {**methods(), **notes()}
    for table in (FACTS["types"], FACTS["params"]):
        for name, row in table.items():
            first, *path = name.split(".")
            kind = messages[first].params if first in messages else known.get(first)
            for step in path:
                kind = inside(kind, step) if kind else None
            if kind is not None:
                yield name, kind, row


def inside(kind: type[Struct], field: str) -> type[Struct] | None:
    """Find the Struct that a field holds; `_meta` of params is read as `RequestMeta`, beside keys that stay open."""
    if field == "_meta" and issubclass(kind, wire.Params):
        return lifecycle.RequestMeta
    return next(structs_in(field_called(kind, field)), None)


def field_called(kind: type[Struct], name: str) -> Any:
    return next((field.type for field in fields(kind) if field.encode_name == name), None)


def home(kind: type[Struct], field: str) -> str:
    """Name the class that defines a field; for a field of a nameless base, the first class that has a name."""
    place = next(place for place, base in enumerate(kind.__mro__) if field in inspect.get_annotations(base))
    while kind.__mro__[place].__name__ in BASES:
        place -= 1
    return kind.__mro__[place].__name__


def said_by_us(kind: type[Struct], version: str) -> dict[str, str]:
    """Write our fields as the facts write theirs: encoded name -> `!` or `?`."""
    found = {
        field.encode_name: "!" if field.default is NODEFAULT and field.default_factory is NODEFAULT else "?"
        for field in fields(kind)
        if covers(marks_of(field), version)
    }
    config = kind.__struct_config__
    if config.tag_field and config.tag_field != "jsonrpc":
        found[config.tag_field] = "!"
    return found


def said_by_facts() -> dict[type[Struct], list[dict[str, str]]]:
    """Put all rows of one Struct together, version by version: what one row lacks is optional in the whole."""
    found: dict[type[Struct], list[dict[str, str]]] = {}
    for place in range(len(VERSIONS)):
        alive: dict[type[Struct], list[dict[str, str]]] = {}
        for _, kind, row in rows():
            row_now = {name: marks[place] for name, marks in row.items() if marks[place] != "-"}
            alive.setdefault(kind, [])
            if row_now:
                alive[kind].append(row_now)
        for kind, members in alive.items():
            names = {name for member in members for name in member}
            merged = {name: "!" if all(member.get(name) == "!" for member in members) else "?" for name in names}
            found.setdefault(kind, []).append(merged)
    return found


def differences() -> Iterator[tuple[str, str, str]]:
    """Tell every field that differs in some version: the Struct, the class that defines the field, its name."""
    for kind, theirs in said_by_facts().items():
        names = {field.encode_name: field.name for field in fields(kind)}
        for version, expected in zip(VERSIONS, theirs, strict=True):
            actual = said_by_us(kind, version) if covers(span_of(kind), version) else {}
            for name in expected.keys() | actual.keys():
                if expected.get(name) != actual.get(name):
                    attribute = names.get(name, name)
                    yield kind.__name__, home(kind, attribute), attribute


def test_every_field_is_what_the_schemas_say_or_differs_for_a_reason() -> None:
    unexplained = {
        f"{kind}.{field}"
        for kind, base, field in differences()
        if not {(kind, field), (base, field)} & DIFFERENT.keys()
    }
    assert unexplained == set()


def test_every_reason_explains_a_difference() -> None:
    explained = {(name, field) for kind, base, field in differences() for name in (kind, base)}
    assert DIFFERENT.keys() - explained == set()


def test_every_type_of_the_schemas_is_ours_or_left_out_for_a_reason() -> None:
    matched = {name for name, _, _ in rows()}
    names = FACTS["types"].keys() | FACTS["params"].keys()
    opaque = {name for name in names - matched if is_open_json(name)}
    assert names - matched - opaque == NOT_OURS.keys()


def is_open_json(name: str) -> bool:
    """Tell whether a row describes the inside of what we keep as JSON."""
    parents = {row: kind for row, kind, _ in rows()}
    while "." in name:
        name, field = name.rsplit(".", 1)
        if name in parents:
            annotation = field_called(parents[name], field)
            return annotation is not None and next(structs_in(annotation), None) is None
    return False


def test_every_type_of_ours_is_in_the_schemas_or_there_for_a_reason() -> None:
    matched = {kind.__name__ for _, kind, _ in rows()}
    assert wire_types().keys() - matched == NOT_THEIRS.keys()


def test_every_marked_field_may_be_absent() -> None:
    for name, kind in wire_types().items():
        for field in fields(kind):
            assert not marks_of(field) or field.default is None, f"{name}.{field.name}"


def test_every_word_that_a_field_may_say() -> None:
    known = {name: kind for name, kind, _ in rows()}
    for name, words in FACTS["values"].items():
        owner, _, field = name.rpartition(".")
        if owner in known:
            assert said_in(known[owner], field) == set(words), name
        else:
            known_elsewhere = NAMED_VALUES.keys() | NOT_OUR_VALUES.keys()
            assert name in known_elsewhere or owner.split(".")[0] in NOT_OURS or is_open_json(owner), name
    for name, literal in NAMED_VALUES.items():
        assert set(get_args(literal)) == set(FACTS["values"][name])


def said_in(kind: type[Struct], field: str) -> set[object]:
    if field == kind.__struct_config__.tag_field:
        return {kind.__struct_config__.tag}
    return set(literals_in(field_called(kind, field)))


def literals_in(annotation: Any) -> Iterator[object]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    for argument in get_args(annotation):
        yield from literals_in(argument)


def either(first: str, second: str) -> dict[str, str]:
    """Put the messages of both sides together: a message exists in a version when either side may send it."""
    found: dict[str, str] = {}
    for side in (FACTS["methods"][first], FACTS["methods"][second]):
        for name, marks in side.items():
            before = found.get(name, "-" * len(VERSIONS))
            if name in NOT_OURS:
                continue
            found[name] = "".join("!" if "!" in pair else "-" for pair in zip(before, marks, strict=True))
    return found


def test_every_request_has_a_row_that_says_when_it_exists() -> None:
    ours = {name: marks_for(row.versions) for name, row in methods().items()}
    for name in METHODS_NOT_THEIRS:
        del ours[name]
    assert ours == either("requests of clients", "requests of servers")


def test_every_notification_has_a_row_that_says_when_it_exists() -> None:
    ours = {name: marks_for(row.versions) for name, row in notes().items()}
    assert ours == either("notifications of clients", "notifications of servers")


def test_no_name_has_two_rows() -> None:
    names = [row.name for row in all_rows()]
    assert sorted(names) == sorted(set(names))


def marks_for(versions: frozenset[str]) -> str:
    return "".join("!" if version in versions else "-" for version in VERSIONS)


def test_types_exist_as_long_as_their_messages() -> None:
    for name, row in methods().items():
        for version in row.versions:
            assert covers(span_of(row.params), version), name
            assert covers(span_of(row.result), version), name
    for name, note in notes().items():
        assert all(covers(span_of(note.params), version) for version in note.versions), name


def test_the_distiller_reads_what_it_wrote(tmp_path: Path) -> None:
    schema = {
        "$defs": {
            "Role": {"enum": ["user", "assistant"]},
            "Base": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
            "Whole": {"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"part": {"properties": {"x": {}}}}}]},
            "FormParams": {"properties": {"mode": {"const": "form"}, "message": {}}, "required": ["message"]},
            "URLParams": {"properties": {"mode": {"const": "url"}, "message": {}}, "required": ["message", "mode"]},
            "AskParams": {"anyOf": [{"$ref": "#/$defs/FormParams"}, {"$ref": "#/$defs/URLParams"}]},
            "Ask": {"properties": {"method": {"const": "ask"}, "params": {"$ref": "#/$defs/AskParams"}}},
            "ServerRequest": {"anyOf": [{"$ref": "#/$defs/Ask"}]},
        }
    }
    for version in VERSIONS:
        (tmp_path / version).mkdir()
        (tmp_path / version / "schema.json").write_text(json.dumps(schema))
    facts = json.loads(distill.written(distill.distil(tmp_path)))
    assert facts["types"] == {
        "Base": {"name": "!!!!!"},
        "Whole": {"name": "!!!!!", "part": "?????"},
        "Whole.part": {"x": "?????"},
    }
    assert facts["params"] == {"ask": {"message": "!!!!!", "mode": "?????"}}
    assert facts["values"] == {
        "Role": {"assistant": "!!!!!", "user": "!!!!!"},
        "ask.mode": {"form": "!!!!!", "url": "!!!!!"},
    }
    assert facts["methods"] == {"requests of servers": {"ask": "!!!!!"}}
