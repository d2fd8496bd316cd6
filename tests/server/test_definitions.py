"""Settings are checked where they are given, and a message names the right one."""

from collections.abc import Callable
from typing import Any

import pytest

from splice import Server
from splice.protocol.content import Annotations
from splice.protocol.tools import ToolAnnotations
from splice.protocol.wire import Icon

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
