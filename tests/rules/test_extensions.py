"""Extensions: tables of methods and notifications, put together."""

from functools import partial
from typing import Any

import pytest

from splice import Client, Server
from splice.protocol.capabilities import ClientCapabilities, ServerCapabilities
from splice.protocol.lifecycle import PING
from splice.protocol.methods import Method, Note
from splice.protocol.notifications import PROGRESS
from splice.protocol.wire import EmptyResult, NoParams, NoteParams, Params, Result
from splice.rules.extensions import Extension, Heard, Served, heard, served

ADD = Method(name="com.example/add", params=NoParams, result=EmptyResult)
ADDED = Note(name="notifications/com.example/added", params=NoteParams)


class LaterResult(Result, kw_only=True):
    """The result of a request that goes on for a while."""


async def answer(_: str) -> EmptyResult:
    return EmptyResult()


async def other(_: str) -> EmptyResult:
    return EmptyResult()


def hear(_: Params) -> None:
    pass


def test_an_extension_says_what_it_serves_and_hears() -> None:
    extension = Extension(
        "com.example/math",
        settings={"a": 1},
        methods=[Served(ADD, answer)],
        notes=[Heard(ADDED, hear)],
        results={"task": LaterResult},
    )
    assert list(extension.methods) == [Served(ADD, answer)]
    assert list(extension.notes) == [Heard(ADDED, hear)]
    assert extension.results == {"task": LaterResult}


def test_an_extension_is_declared_beside_the_others() -> None:
    for capabilities in (ServerCapabilities(), ClientCapabilities()):
        Extension[str]("com.example/a").declare(capabilities)
        Extension[str]("com.example/b", settings={"x": None}).declare(capabilities)
        assert capabilities.extensions == {"com.example/a": {}, "com.example/b": {"x": None}}


def test_declaring_changes_no_capabilities_that_were_shared() -> None:
    shared: dict[str, Any] = {"com.example/old": {}}
    capabilities = ServerCapabilities(extensions=shared)
    Extension[str]("com.example/a").declare(capabilities)
    assert shared == {"com.example/old": {}}


def test_of_two_methods_with_one_name_the_later_counts() -> None:
    first = Extension("a", methods=[Served(PING, answer), Served(ADD, answer)], notes=[Heard(PROGRESS, hear)])
    second = Extension("b", methods=[Served(ADD, other)], notes=[Heard(ADDED, hear), Heard(PROGRESS, print)])
    table = served([first, second])
    assert {name: each.answer for name, each in table.items()} == {PING.name: answer, ADD.name: other}
    notes = heard([first, second])
    assert {name: each.hear for name, each in notes.items()} == {PROGRESS.name: print, ADDED.name: hear}


def test_nothing_is_served_by_nobody() -> None:
    assert served([]) == {}
    assert heard([]) == {}


@pytest.mark.requirement(69)
@pytest.mark.parametrize("id", ["math", "", "/math", "-a/math", "com..example/math"])
def test_an_extension_has_an_id_with_a_prefix(id: str) -> None:
    for kind in (partial(Server, "s"), partial(Client, Server("s"))):
        with pytest.raises(ValueError, match=r"such as com\.example/name"):
            kind(extensions=[Extension(id)])
    Server("s", extensions=[Extension("com.example/math")])
