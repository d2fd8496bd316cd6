"""Rows: when a message exists, and how its params and its result are read. `test_parity` checks the versions."""

import subprocess
import sys
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from protocol.wire import all_rows, methods
from splice.errors import InvalidParams, RemoteProtocolError
from splice.protocol.lifecycle import DISCOVER, INITIALIZE, PING
from splice.protocol.methods import Method, Note
from splice.protocol.notifications import CANCELLED, PROGRESS, CancelledParams
from splice.protocol.prompts import PROMPTS_GET
from splice.protocol.questions import ELICIT, ELICITATION_COMPLETE
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, CallToolResult
from splice.protocol.versions import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN, V2025_11_25, VERSIONS
from splice.protocol.wire import EmptyResult, NoParams, PageParams, PageResult, Result
from support.tables import rows

ROWS = methods()
DEEP = b"[" * 100_000 + b"]" * 100_000


def test_only_three_methods_may_ask() -> None:
    assert {name for name, row in ROWS.items() if row.may_ask} == {"tools/call", "prompts/get", "resources/read"}
    for row in ROWS.values():
        assert row.may_ask is ("input_responses" in row.params.__struct_fields__), row.name


def test_the_same_three_are_named_in_a_header() -> None:
    named = {name: row.named_by for name, row in ROWS.items() if row.named_by}
    assert named == {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
    for name, field in named.items():
        assert field in ROWS[name].params.__struct_fields__


def test_a_list_takes_a_cursor_and_gives_one() -> None:
    for row in ROWS.values():
        assert issubclass(row.params, PageParams) is issubclass(row.result, PageResult), row.name


def test_exists() -> None:
    assert all(TOOLS_CALL.exists(version) for version in VERSIONS)
    assert not TOOLS_CALL.exists("2031-01-01")
    assert [PING.exists(version) for version in VERSIONS] == [True, True, True, True, False]
    assert DISCOVER.versions == {LATEST_MODERN}
    assert INITIALIZE.versions == set(HANDSHAKE_VERSIONS)
    assert ELICIT.exists(LATEST_HANDSHAKE)
    assert ELICITATION_COMPLETE.versions == {V2025_11_25}
    assert CANCELLED.exists(LATEST_MODERN)


@rows("row", all_rows())
def test_params_are_read_as_the_type_of_the_row(row: Note[Any]) -> None:
    try:
        assert type(row.read_params(None)) is row.params
    except InvalidParams as error:
        assert "missing required field" in error.message  # noqa: PT017 - both are right, by the row
    with pytest.raises(InvalidParams, match="Invalid params: "):
        row.read_params(Raw(b"[]"))


@pytest.mark.parametrize(
    "text",
    [b"5", b'"x"', b"{", b"{'a': 1}", b'{"a": ' + DEEP + b"}", b'{"\xff": 1}', b'{"name": "\xff"}'],
    ids=range(7),
)
def test_params_that_cannot_be_read_are_invalid(text: bytes) -> None:
    with pytest.raises(InvalidParams, match="Invalid params: ") as caught:
        TOOLS_CALL.read_params(Raw(text))
    assert caught.value.__cause__ is None


def test_absent_params_are_an_empty_object() -> None:
    assert PING.read_params(None) == NoParams()
    assert CANCELLED.read_params(None) == CancelledParams()


@rows("row", ROWS.values())
def test_a_malformed_result_is_the_peers_fault(row: Method[Any, Any]) -> None:
    for text in (b"null", b"[]", b"5", b'{"_meta":5}', b'{"_meta":' + DEEP + b"}"):
        with pytest.raises(RemoteProtocolError, match=f"The result of {row.name} is malformed: "):
            row.read_result(Raw(text))


def read(row: Method[Any, Any], text: bytes) -> Any:
    """Read a result that need not fit."""
    heard: list[str] = []
    return row.read_result(Raw(text), heard.append)


def test_null_reads_as_absent_in_params_and_in_results() -> None:
    params = PROMPTS_GET.read_params(Raw(b'{"name":"a","arguments":null,"requestState":null,"_meta":null}'))
    assert params == PROMPTS_GET.params(name="a")
    assert read(TOOLS_CALL, b'{"content":[],"isError":null}') == CallToolResult(content=[])
    result = read(TOOLS_CALL, b'{"content":[],"isError":null,"structuredContent":{"a":null}}')
    assert result == CallToolResult(content=[], structured_content={"a": None})
    assert TOOLS_LIST.read_result(Raw(b'{"tools":[],"nextCursor":null}')).next_cursor is None
    assert PING.read_result(Raw(b"{}")) == EmptyResult()


class Kept(Result, kw_only=True):
    ttl: int | None
    note: str = ""


def test_a_null_that_is_due_stays() -> None:
    row = Method(name="com.example/keep", params=NoParams, result=Kept)
    assert read(row, b'{"ttl":null,"_meta":null,"note":null}').ttl is None


def test_a_null_where_something_must_be_is_malformed() -> None:
    with pytest.raises(RemoteProtocolError, match=r"Expected `array`, got `null` - at `\$.tools`"):
        read(TOOLS_LIST, b'{"tools":null}')
    with pytest.raises(InvalidParams, match=r"\$\.progress"):
        PROGRESS.read_params(Raw(b'{"progressToken":1,"progress":null}'))


def test_importing_compiles_no_decoders() -> None:
    code = (
        "import pkgutil, importlib, splice.protocol as p\n"
        "from splice.protocol.methods import Note\n"
        "for each in pkgutil.iter_modules(p.__path__, 'splice.protocol.'):\n"
        "    for row in vars(importlib.import_module(each.name)).values():\n"
        "        assert not (isinstance(row, Note) and row.__dict__), row\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


def test_a_row_of_ones_own() -> None:
    row = Method(name="com.example/add", params=NoParams, result=EmptyResult)
    assert row.versions == frozenset(VERSIONS)
    assert msgspec.json.encode(row.read_result(Raw(b"{}"))) == b"{}"
