"""Capabilities: a key that is there counts, even with nothing inside."""

import msgspec

from protocol.wire import stable
from splice.protocol.capabilities import (
    ClientCapabilities,
    ElicitationCapability,
    ResourcesCapability,
    ServerCapabilities,
    TasksCapability,
)


def test_all_capabilities_of_a_client() -> None:
    read = stable(
        ClientCapabilities,
        {
            "roots": {"listChanged": True},
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
            "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}},
            "experimental": {"a.example/b": {"c": 1}},
            "extensions": {"a.example/d": {}},
        },
    )
    assert read.elicitation == ElicitationCapability(form={}, url={})
    assert isinstance(read.tasks, TasksCapability)


def test_all_capabilities_of_a_server() -> None:
    read = stable(
        ServerCapabilities,
        {
            "tools": {"listChanged": True},
            "prompts": {"listChanged": False},
            "resources": {"subscribe": True, "listChanged": False},
            "logging": {},
            "completions": {},
            "tasks": {},
            "experimental": {},
            "extensions": {"a.example/d": {"e": None}},
        },
    )
    assert read.resources == ResourcesCapability(subscribe=True, list_changed=False)


def test_an_empty_capability_is_there_and_an_absent_one_is_not() -> None:
    client = stable(ClientCapabilities, {"roots": {}, "elicitation": {}, "sampling": {}})
    assert client.elicitation == ElicitationCapability()
    assert client.tasks is None
    server = stable(ServerCapabilities, {"completions": {}, "prompts": {}})
    assert server.completions == {}
    assert server.tools is None


def test_null_is_an_absent_capability() -> None:
    read = msgspec.json.decode(b'{"tools":null,"logging":null,"prompts":{"listChanged":null}}', type=ServerCapabilities)
    assert msgspec.json.encode(read) == b'{"prompts":{}}'


def test_unknown_capabilities_and_fields_do_no_harm() -> None:
    read = msgspec.json.decode(b'{"later": {"a": 1}, "tools": {"later": 1}}', type=ServerCapabilities)
    assert msgspec.json.encode(read) == b'{"tools":{}}'
