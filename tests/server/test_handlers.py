"""Handlers: a function is called where it was written to run; its settings are checked where they are given."""

import asyncio
import threading
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from splice import Context, Server
from splice.protocol.content import Annotations
from splice.protocol.prompts import Prompt
from splice.protocol.tools import ToolAnnotations
from splice.protocol.wire import Icon
from splice.server.handlers import FeatureOptions, Handler
from splice.server.threads import Threads
from support.tables import rows
from support.waiting import until


async def called(function: Callable[..., Any], /, blocking: bool = True, **arguments: Any) -> Any:
    call: Any = SimpleNamespace(home=SimpleNamespace(threads=Threads()), params=None)
    handler = Handler(function, {"blocking": blocking}, FeatureOptions)
    return await handler.run(call, lambda _: arguments, lambda value: value)


async def test_an_async_function_is_called_with_nothing_in_between() -> None:
    async def fn(a: int) -> tuple[int, list[str]]:
        return a, [frame.name for frame in traceback.extract_stack()[-3:]]

    assert await called(fn, a=1) == (1, ["called", "run", "fn"])


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_def_runs_on_a_thread_unless_it_does_not_block(blocking: bool) -> None:
    def fn() -> int:
        return threading.get_ident()

    assert (await called(fn, blocking=blocking) == threading.get_ident()) is not blocking


@pytest.mark.parametrize("blocking", [True, False])
async def test_an_awaitable_that_a_def_returns_is_awaited(blocking: bool) -> None:
    async def work(a: int) -> int:
        return 2 * a

    def fn(a: int) -> Any:
        return work(a)

    assert await called(fn, blocking=blocking, a=2) == 4


@pytest.mark.parametrize("blocking", [True, False])
async def test_parameters_may_have_any_name(blocking: bool) -> None:
    def fn(fn: int, self: int, callable: int) -> int:
        return fn + self + callable

    assert await called(fn, blocking=blocking, fn=1, self=2, callable=3) == 6


def test_a_context_is_found_by_its_annotation_whatever_it_is_called() -> None:
    class Mine(Context):
        pass

    async def fn(a: int, where: Mine) -> int:
        return a

    handler = Handler(fn, {}, FeatureOptions)
    assert list(handler.signature.input_schema["properties"]) == ["a"]
    assert list(handler.signature.injected) == ["where"]


def test_callable_objects_are_named_after_their_class() -> None:
    class Count:
        def __call__(self, a: int) -> int:
            return a

    assert Handler(Count(), {}, FeatureOptions).name == "Count"


async def test_a_cancelled_def_lets_go_of_what_it_waits_for() -> None:
    """Only the thread goes on; `Context.wait` raises there."""
    started, seen, ended = threading.Event(), list[BaseException](), threading.Event()

    def fn(ctx: Context) -> None:
        started.set()
        try:
            ctx.wait(asyncio.Event().wait())
        except BaseException as error:
            seen.append(error)
            raise
        finally:
            ended.set()

    task = asyncio.ensure_future(called(fn))
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
        (Server.prompt, "validate", ", visible"),
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
    defined = Handler(read, options, FeatureOptions).define(Prompt, title="t")
    assert defined == Prompt(name="given", description="Read it.", title="t")


# Definitions: a message names the right setting.

ICON = Icon(src="https://example.com/a.png", mime_type="image/png", sizes=["48x48"])


ALL: Any = ["all"]
BAD_NAMES = ["", "a b", "a,b", "é", "a" * 129, "a\n", "a\x1b[0m", "<lambda>"]


def tool(**options: Any) -> Callable[[Server], None]:
    return lambda server: server.add_tool(lambda: None, **{"name": "t", **options})


def prompt(**options: Any) -> Callable[[Server], None]:
    return lambda server: server.add_prompt(lambda: "", **{"name": "p", **options})


def resource(uri: str = "x://y", **options: Any) -> Callable[[Server], None]:
    return lambda server: server.add_resource(lambda: "", uri, **{"name": "r", **options})


def template(uri: str, **options: Any) -> Callable[[Server], None]:
    return lambda server: server.add_resource(lambda a: a, uri, **{"name": "r", **options})


@rows(
    "add",
    [
        tool(name="a" * 128),
        tool(name="Az09_./-"),
        tool(meta={"a": 1, "example.com/b-c.d_e": 2, "a.b-c.d9/": 3, "": 4}, icons=[ICON]),
        tool(icons=[Icon(src="data:image/png;base64,iVBORw0=")], annotations=ToolAnnotations(read_only_hint=True)),
        tool(annotations={"readOnlyHint": True}),
        prompt(name="any name"),
        resource(
            mime_type="text/plain; charset=utf-8", annotations=Annotations(priority=0.5, audience=["user"]), size=3
        ),
        resource("file:///a%20b"),
        template("x://{a}"),
        template("{+a}"),
        template("{a}"),
        template("notes://größe/{a}"),
    ],
)
def test_what_the_specification_allows(add: Callable[[Server], None]) -> None:
    add(Server("s"))


@rows(
    ("add", "message"),
    [
        *(
            (tool(name=name), f"128 characters of A-Z a-z 0-9 _ - . /, not {name!r}")
            for name in ("", "a b", "a,b", "é")
        ),
        *(
            (tool(name=name), "its name= has 1 to 128 characters")
            for name in ("a" * 129, "a\n", "a\x1b[0m", "<lambda>")
        ),
        (prompt(name=""), "'' is not a name"),
        *(
            (tool(meta={key: 1}), "keys are `name` or `example.com/name`")
            for key in ("-a", "a-", "a b", "/a", "a./b", "1a.b/c", "a-/b", "a/b/c", "-bad-/ -")
        ),
        (tool(meta={"traceparent": 5}), "traceparent, tracestate, baggage are texts"),
        (tool(title=5), "Expected `str | null`, got `int` - at `$.title`"),
        (tool(icons=["a.png"]), "Expected `object`, got `str` - at `$.icons[0]`"),
        (tool(icons=[Icon(src="a.png")]), "'a.png' is not an https: or data: URI"),
        *(
            (tool(icons=[Icon(src="https://a/b", sizes=["48x48", size])]), 'a list of sizes; write "48x48", or "any"')
            for size in ("48", "48X48", "0x1", "any ", "")
        ),
        (tool(meta={"traceparent": "00-1-2-03"}), "traceparent, tracestate, baggage are texts as the W3C has them"),
        (tool(icons=[Icon(src="javascript:alert(1)")]), "'javascript:alert(1)' is not an https: or data: URI"),
        (
            tool(icons=[Icon(src="https://a/b", mime_type="png")]),
            "'png' is not a MIME type; write one such as text/plain",
        ),
        (tool(annotations={"read_only_hint": True}), "annotations has members that no client knows"),
        (
            tool(annotations={"readOnlyHint": "yes"}),
            "Expected `bool | null`, got `str` - at `$.annotations.readOnlyHint`",
        ),
        (resource(annotations=Annotations(priority=2)), "2.0 is not a priority: it is between 0 and 1"),
        (
            resource(annotations=Annotations(audience=ALL)),
            "Invalid enum value 'all' - at `$.annotations.audience[0]`",
        ),
        (resource(mime_type="text"), "'text' is not a MIME type"),
        (resource(mime_type="text/"), "'text/' is not a MIME type"),
        *((resource(uri), f"{uri!r} is not a URI") for uri in ("1x://y", "http://[", "notes", "x://ü")),
        (template("1x://{a}"), "'1x://{a}' is not a template of URIs"),
        (template("notes/{a}"), "'notes/{a}' is not a template of URIs; write one such as notes://{day}"),
        (template("x://{a*}"), "for a value with slashes write {+...}"),
    ],
)
@pytest.mark.requirement(33, 35, 271, 273, 274, 290)
def test_what_is_refused_at_once(add: Callable[[Server], None], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        add(Server("s"))
    assert message in str(caught.value)
