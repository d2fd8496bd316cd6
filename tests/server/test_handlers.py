"""Handlers: a function that is called where it was written to run."""

import asyncio
import threading
from typing import Any

import pytest

from splice import Context, Server
from splice.protocol.prompts import Prompt
from splice.server.handlers import FeatureOptions, Handler, invoker
from splice.server.threads import Bridge, Threads
from support.waiting import until


async def test_an_async_function_is_called_with_nothing_in_between() -> None:
    async def fn(a: int) -> int:
        return a

    handler = Handler.of(fn, {}, Threads())
    assert handler.invoke is fn
    assert (handler.name, await handler.invoke(a=1)) == ("fn", 1)


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_def_runs_on_a_thread_unless_it_does_not_block(blocking: bool) -> None:
    call = invoker(threading.get_ident, is_async=False, blocking=blocking, threads=Threads())
    assert (await call() == threading.get_ident()) is not blocking


@pytest.mark.parametrize("blocking", [True, False])
async def test_an_awaitable_that_a_def_returns_is_awaited(blocking: bool) -> None:
    async def work(a: int) -> int:
        return 2 * a

    def fn(a: int) -> Any:
        return work(a)

    assert await invoker(fn, is_async=False, blocking=blocking, threads=Threads())(a=2) == 4


@pytest.mark.parametrize("blocking", [True, False])
async def test_parameters_may_have_any_name(blocking: bool) -> None:
    def fn(fn: int, self: int, callable: int) -> int:
        return fn + self + callable

    assert await invoker(fn, is_async=False, blocking=blocking, threads=Threads())(fn=1, self=2, callable=3) == 6


def test_a_context_is_found_by_its_annotation_whatever_it_is_called() -> None:
    class Mine(Context):
        pass

    async def fn(a: int, where: Mine) -> int:
        return a

    handler = Handler.of(fn, {}, Threads())
    assert list(handler.signature.input_schema["properties"]) == ["a"]
    assert list(handler.signature.injected) == ["where"]


def test_callable_objects_are_named_after_their_class() -> None:
    class Count:
        def __call__(self, a: int) -> int:
            return a

    assert Handler.of(Count(), {}, Threads()).name == "Count"


async def test_a_cancelled_def_lets_go_of_what_it_waits_for() -> None:
    """Only the thread goes on; `Context.wait` raises there."""
    started, seen, ended = threading.Event(), list[BaseException](), threading.Event()

    class Waiting(Context):
        def __init__(self) -> None:
            self.bridge = Bridge()

    def fn(ctx: Context) -> None:
        started.set()
        try:
            ctx.wait(asyncio.Event().wait())
        except BaseException as error:
            seen.append(error)
            raise
        finally:
            ended.set()

    task = asyncio.ensure_future(invoker(fn, is_async=False, blocking=True, threads=Threads())(ctx=Waiting()))
    await until(started.is_set)
    task.cancel()
    await until(ended.is_set)
    assert task.cancelled()
    assert isinstance(seen[0], asyncio.CancelledError)


@pytest.mark.parametrize(
    ("add", "option", "end"),
    [
        (Server.tool, "tags", ", timeout"),
        (Server.tool, "titel", r"Did you mean 'title'\?"),
        (Server.prompt, "validate", ", blocking"),
        (lambda server, **options: server.resource("a:b", **options), "mimetype", r"Did you mean 'mime_type'\?"),
    ],
)
def test_an_option_that_is_not_there_is_told_those_that_are(add: Any, option: str, end: str) -> None:
    with pytest.raises(TypeError, match=rf"^there is no option '{option}'; there are name, title, .*{end}$"):
        add(Server("s"), **{option: 1})(lambda: "")


def test_what_the_author_says_wins_over_what_the_function_says() -> None:
    def read() -> None:
        """Read it."""

    options: FeatureOptions = {"name": "given", "blocking": False}
    defined = Handler.of(read, options, Threads()).define(Prompt, options, title="t")
    assert defined == Prompt(name="given", description="Read it.", title="t")
