"""Completion: what completes by itself, what a function may return, and what clients are told."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

import enum
import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from splice import Context, Server
from splice.protocol.versions import FACTS, VERSIONS
from splice.types import Completion
from support.caller import MODERN, Caller
from support.tables import rows
from support.wire import JSON

NEWEST = MODERN[-1]
PROMPT = {"type": "ref/prompt", "name": "paint"}
TEMPLATE = {"type": "ref/resource", "uri": "shop://{kind}/{size}"}


class Colour(enum.Enum):
    RED = "red"
    ROSE = "Rose"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 10


def shop() -> Server:
    server = Server("shop")

    @server.prompt
    def paint(
        colour: Colour,
        finish: Annotated[Literal["matt", "glossy"] | None, Meta(description="The surface")] = None,
        coats: Literal[1, 2, True] = 1,
        dry: bool = False,
        note: str = "",
        mixed: bool | Literal["maybe"] = False,
    ) -> str:
        return f"{colour}"

    @server.resource("shop://{kind}/{size}")
    def stock(kind: Literal["brush", "bucket"], size: Size) -> str:
        return kind

    return server


async def completed(server: Server, name: str, typed: str, ref: JSON = PROMPT, version: str = NEWEST) -> JSON:
    caller = await Caller(server, version).open()
    params = {"ref": ref, "argument": {"name": name, "value": typed}}
    return (await caller.result("completion/complete", params))["completion"]


@rows("version", VERSIONS)
@rows(
    ("ref", "name", "typed", "values"),
    [
        (PROMPT, "colour", "", ["red", "Rose", "blue"]),
        (PROMPT, "colour", "r", ["red", "Rose"]),
        (PROMPT, "colour", "RO", ["Rose"]),
        (PROMPT, "colour", "x", []),
        (PROMPT, "finish", "", ["matt", "glossy"]),
        (PROMPT, "finish", "null", []),
        (PROMPT, "coats", "", ["1", "2", "true"]),
        (PROMPT, "dry", "", ["true", "false"]),
        (PROMPT, "dry", "F", ["false"]),
        (PROMPT, "mixed", "", ["true", "false", "maybe"]),
        (PROMPT, "note", "", []),
        (PROMPT, "nothing", "", []),
        (TEMPLATE, "kind", "b", ["brush", "bucket"]),
        (TEMPLATE, "size", "1", ["1", "10"]),
        ({"type": "ref/resource", "uri": "shop://brush/1"}, "kind", "", []),
    ],
)
@pytest.mark.requirement(311, 312)
async def test_choices_complete_by_themselves(
    ref: JSON, name: str, typed: str, values: list[str], version: str
) -> None:
    assert await completed(shop(), name, typed, ref, version) == {"values": values}


async def test_what_is_proposed_is_what_the_function_takes() -> None:
    server = Server("s")

    @server.prompt
    def pick(colour: Colour, size: Size, coats: Literal[1, "two"], dry: bool) -> str:
        return f"{colour!r} {size!r} {coats!r} {dry!r}"

    caller = await Caller(server, NEWEST).open()
    ref = {"type": "ref/prompt", "name": "pick"}
    for last in (0, -1):
        names = ("colour", "size", "coats", "dry")
        arguments = {name: (await completed(server, name, "", ref))["values"][last] for name in names}
        (message,) = (await caller.result("prompts/get", {"name": "pick", "arguments": arguments}))["messages"]
    assert message["content"]["text"] == "<Colour.BLUE: 'blue'> <Size.LARGE: 10> 'two' False"


async def test_a_function_wins_over_the_type() -> None:
    server = shop()
    server.completion("paint", "colour")(lambda typed: ["mine"])
    server.completion("shop://{kind}/{size}", "kind")(lambda typed: ["mine too"])
    assert await completed(server, "colour", "") == {"values": ["mine"]}
    assert await completed(server, "kind", "", TEMPLATE) == {"values": ["mine too"]}
    assert await completed(server, "dry", "t") == {"values": ["true"]}


PLAIN: dict[str, Callable[[Server], Any]] = {
    "nothing": lambda server: None,
    "a prompt": lambda server: server.add_prompt(lambda text: text, name="p"),
    "a tool": lambda server: server.add_tool(flag, name="t"),
}
COMPLETING: dict[str, Callable[[Server], Any]] = {
    "a prompt": lambda server: server.add_prompt(flag, name="q"),
    "a template": lambda server: server.add_resource(flag, "x://{on}", name="r"),
    "a function": lambda server: server.completion("p", "text")(lambda typed: []),
}


def flag(on: bool) -> str:
    return ""


@rows("version", VERSIONS)
@rows("add", PLAIN.values(), ids=PLAIN)
async def test_a_server_that_completes_nothing_declares_nothing(add: Callable[[Server], Any], version: str) -> None:
    server = Server("s")
    add(server)
    assert server.service.home.capabilities().completions is None
    caller = await Caller(server, version).open()
    params = {"ref": PROMPT, "argument": {"name": "a", "value": ""}}
    assert (await caller.error("completion/complete", params))["code"] == -32601


@pytest.mark.parametrize("add", COMPLETING.values(), ids=COMPLETING)
@pytest.mark.requirement(310)
async def test_completions_are_declared_when_anything_completes(add: Callable[[Server], Any]) -> None:
    server = Server("s")
    server.add_prompt(lambda text: text, name="p")
    add(server)
    assert server.service.home.capabilities().completions == {}
    discovered = await (await Caller(server, NEWEST).open()).result("server/discover")
    assert discovered["capabilities"]["completions"] == {}


async def test_what_clients_were_told_stays() -> None:
    server = Server("s")
    server.add_prompt(flag, name="p")
    assert server.service.home.capabilities().completions == {}
    server.remove_prompt("p")
    assert server.service.home.capabilities().completions == {}
    caller = await Caller(server, NEWEST).open()
    error = await caller.error(
        "completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "on", "value": ""}}
    )
    assert (error["code"], error["message"]) == (-32602, "There is no prompt or resource template 'p' here")


# What a function returns.


def returning(fn: Callable[..., Any]) -> Server:
    server = Server("s")
    server.add_prompt(lambda a: "", name="paint")
    server.completion("paint", "a")(fn)
    return server


async def mapped(typed: str) -> Iterator[str]:
    return iter([typed, "two"])


def both(typed: str, *, second: str) -> list[str]:
    return [typed, second]


class Both:
    """An object that is called."""

    def __call__(self, typed: str) -> Iterator[str]:
        return iter([typed, "two"])


@pytest.mark.parametrize(
    "fn",
    [
        mapped,
        lambda typed: [typed, "two"],
        lambda typed: (each for each in (typed, "two")),
        lambda typed: map(str, (typed, "two")),
        partial(both, second="two"),
        lambda typed: dict.fromkeys((typed, "two")),
        Both(),
        Both().__call__,
    ],
)
async def test_values_may_come_in_any_iterable(fn: Callable[..., Any]) -> None:
    assert await completed(returning(fn), "a", "x") == {"values": ["x", "two"]}


async def test_members_of_enums_are_their_values() -> None:
    assert await completed(returning(lambda typed: Colour), "a", "") == {"values": ["red", "Rose", "blue"]}
    assert await completed(returning(lambda typed: [Size.LARGE, 5]), "a", "") == {"values": ["10", "5"]}


async def test_no_more_is_taken_than_is_told() -> None:
    found = await completed(returning(lambda typed: itertools.count()), "a", "x")
    assert found == {"values": [str(number) for number in range(100)], "hasMore": True}


def test_a_generator_function_is_refused_where_it_is_given() -> None:
    def proposed(typed: str) -> Iterator[str]:
        yield typed

    with pytest.raises(TypeError, match="a generator has no result; return a list of what it yields"):
        returning(proposed)


@pytest.mark.parametrize("count", [99, 100, 101])
async def test_at_most_a_hundred_values_are_told_and_how_many_there_are(count: int) -> None:
    values = [str(number) for number in range(count)]
    more = {"total": count, "hasMore": True} if count > 100 else {}
    assert await completed(returning(lambda typed: values), "a", "") == {"values": values[:100], **more}
    told = Completion(values=values)
    assert await completed(returning(lambda typed: told), "a", "") == {"values": values[:100], **more}
    told = Completion(values=values, total=1000)
    more = {"total": 1000, "hasMore": True} if count > 100 else {"total": 1000}
    assert await completed(returning(lambda typed: told), "a", "") == {"values": values[:100], **more}
    assert len(told.values) == count, "what the author keeps is not changed"


async def test_a_whole_completion_holds_texts_only() -> None:
    odd: Any = [1, Colour.RED]
    assert await completed(returning(lambda typed: Completion(values=odd)), "a", "") == {"values": ["1", "red"]}


async def test_what_is_no_iterable_is_an_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    caller = await Caller(returning(lambda typed: 5), NEWEST).open()
    error = await caller.error("completion/complete", {"ref": PROMPT, "argument": {"name": "a", "value": ""}})
    assert error["code"] == -32603
    assert "'int' object is not iterable" in caplog.text


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_function_is_given_the_context_what_was_typed_and_what_is_known(version: str) -> None:
    server = Server("s")
    server.add_prompt(lambda a, b: "", name="paint")

    @server.completion("paint", "b")
    async def complete(typed: str, known: dict[str, str], ctx: Context) -> str:
        return f"{ctx.version} {typed} {known}"

    caller = await Caller(server, version).open()
    params: JSON = {"ref": PROMPT, "argument": {"name": "b", "value": "x"}, "context": {"arguments": {"a": "k"}}}
    for context, known in (({"arguments": {"a": "k"}}, {"a": "k"}), ({}, {}), (None, {})):
        params["context"] = context
        assert (await caller.result("completion/complete", params))["completion"]["values"] == [f"{version} x {known}"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_nobody_can_be_asked_while_something_is_completed(version: str) -> None:
    async def ask(typed: str, ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    caller = await Caller(returning(ask), version, answers=lambda *_: {"roots": []}).open()
    response = await caller.request("completion/complete", {"ref": PROMPT, "argument": {"name": "a", "value": ""}})
    assert ("error" in response) == FACTS[version].request_meta


class Endless:
    def __init__(self) -> None:
        self.taken = 0

    def __iter__(self) -> Iterator[int]:
        for number in itertools.count():
            self.taken += 1
            yield number
            if number > 1_000:
                raise AssertionError("nobody reads so many")


@pytest.mark.parametrize("version", VERSIONS)
async def test_no_more_is_taken_of_what_is_no_iterator(version: str) -> None:
    server, endless = shop(), Endless()
    server.completion("paint", "note")(lambda typed: endless)
    server.completion("paint", "colour")(lambda typed: range(10**12))
    told = await completed(server, "note", "", version=version)
    assert (told["values"][-1], told["hasMore"], endless.taken) == ("99", True, 101)
    told = await completed(server, "colour", "", version=version)
    assert (told["values"][-1], told["hasMore"], told["total"]) == ("99", True, 10**12)
