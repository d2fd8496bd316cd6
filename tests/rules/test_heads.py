"""The head of a request decides its era, whatever else is wrong with it."""

import pytest
from msgspec import UNSET, Raw

from splice.protocol.jsonrpc import Request
from splice.protocol.lifecycle import META_PROTOCOL_VERSION
from splice.rules.heads import head_of


def request(params: str) -> Request:
    return Request(1, "tools/call", Raw(params.encode()))


@pytest.mark.parametrize("version", ['"1"', "42", "null", "[]"])
def test_a_version_of_any_type_makes_it_modern(version: str) -> None:
    assert head_of(request(f'{{"name":"a","_meta":{{"{META_PROTOCOL_VERSION}":{version}}}}}')).is_modern


@pytest.mark.parametrize("params", ["{}", "[]", "3", '{"_meta":[]}', '{"_meta":null}', '{"_meta":{}}', '{"name":"a"}'])
def test_everything_else_is_legacy(params: str) -> None:
    assert not head_of(request(params)).is_modern


def test_no_params_at_all() -> None:
    assert not head_of(Request(1, "ping", UNSET)).is_modern


def test_names_are_text() -> None:
    head = head_of(request('{"name":"a","uri":["b"],"arguments":{"deep":[1]}}'))
    assert head.named("name") == "a"
    assert head.named("uri") is None
    assert head.named(None) is None
    assert bytes(head.arguments) == b'{"deep":[1]}'  # type: ignore[arg-type]  # it is Raw, being there
