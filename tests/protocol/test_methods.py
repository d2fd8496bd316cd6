"""The method table: who sends what, when, and what else is known about it. `test_parity` checks the versions."""

import subprocess
import sys

import msgspec
import pytest

from splice.protocol import methods
from splice.protocol.lifecycle import CacheableResult, PageParams, PageResult, ServerCapabilities
from splice.protocol.methods import CLIENT_METHODS, NOTES, SERVER_METHODS, TOOLS_CALL, Method, Note
from splice.protocol.versions import HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN, V2025_11_25, VERSIONS

CAPABILITIES = {
    "initialize": None,
    "ping": None,
    "server/discover": None,
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources.subscribe",
    "resources/unsubscribe": "resources.subscribe",
    "subscriptions/listen": None,
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
    "logging/setLevel": "logging",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
    "elicitation/create": "elicitation",
    "tasks/get": "tasks",
    "tasks/result": "tasks",
    "tasks/cancel": "tasks.cancel",
    "tasks/list": "tasks.list",
}

ROWS = CLIENT_METHODS | SERVER_METHODS


def test_every_row_is_in_the_tables_under_its_name() -> None:
    requests = {row.name: row for row in vars(methods).values() if isinstance(row, Method)}
    notes = {row.name: row for row in vars(methods).values() if isinstance(row, Note)}
    assert requests == ROWS
    assert notes == NOTES
    assert all(row.side in {"client", "both"} for row in CLIENT_METHODS.values())
    assert all(row.side in {"server", "both"} for row in SERVER_METHODS.values())


def test_capabilities() -> None:
    assert {name: row.capability for name, row in ROWS.items()} == CAPABILITIES


def test_only_three_methods_may_ask() -> None:
    assert {name for name, row in ROWS.items() if row.may_ask} == {"tools/call", "prompts/get", "resources/read"}
    for row in ROWS.values():
        assert row.may_ask is ("input_responses" in row.params.__struct_fields__), row.name


def test_the_same_three_are_named_in_a_header() -> None:
    named = {name: row.named_by for name, row in ROWS.items() if row.named_by}
    assert named == {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def test_pages_and_caches_follow_the_types() -> None:
    for row in ROWS.values():
        assert row.paged is issubclass(row.params, PageParams), row.name
        assert row.paged is issubclass(row.result, PageResult), row.name
        cacheable = issubclass(row.result, CacheableResult) and row.exists(LATEST_MODERN)
        assert row.cacheable is cacheable, row.name


def test_exists() -> None:
    assert all(TOOLS_CALL.exists(version) for version in VERSIONS)
    assert not TOOLS_CALL.exists("2031-01-01")
    assert [methods.PING.exists(version) for version in VERSIONS] == [True, True, True, True, False]
    assert methods.DISCOVER.versions == {LATEST_MODERN}
    assert methods.INITIALIZE.versions == set(HANDSHAKE_VERSIONS)
    assert methods.ELICIT.exists(LATEST_HANDSHAKE)
    assert methods.TASK_STATUS.versions == {V2025_11_25}
    assert methods.CANCELLED.exists(LATEST_MODERN)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_decoders_are_compiled_once_when_they_are_needed(row: Method[msgspec.Struct, msgspec.Struct]) -> None:
    assert row.params_decoder is row.params_decoder
    assert row.result_decoder.type is row.result
    assert row.params_decoder.type is row.params


@pytest.mark.parametrize("row", NOTES.values(), ids=lambda row: row.name)
def test_notes_have_decoders_too(row: Note[msgspec.Struct]) -> None:
    assert row.params_decoder is row.params_decoder
    assert row.params_decoder.type is row.params


def test_importing_compiles_nothing() -> None:
    code = (
        "from splice.protocol import methods as m;"
        "rows = [*m.CLIENT_METHODS.values(), *m.SERVER_METHODS.values(), *m.NOTES.values()];"
        "assert not any(row.__dict__ for row in rows)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


def test_capabilities_of_servers_are_fields_of_theirs() -> None:
    for row in CLIENT_METHODS.values():
        if row.capability:
            assert row.capability.split(".")[0] in ServerCapabilities.__struct_fields__
