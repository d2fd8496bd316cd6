"""Options are checked where they are given, and what is said names the right ones."""

from typing import Any

import pytest

from client.scripted import DONE, legacy, modern, returning
from splice import Client
from splice.client.options import INFO
from splice.protocol.wire import Implementation
from support.tables import rows


@rows(
    ("options", "kind", "said"),
    [
        ({"on_ellicit": None}, TypeError, "Client has no option on_ellicit; there are on_elicit, on_sample"),
        ({"on_elicit": "yes"}, TypeError, "on_elicit= of Client takes a function, `def` or `async def`, not 'yes'"),
        ({"on_sample": 5}, TypeError, "on_sample= of Client takes a function"),
        ({"on_log": 5}, TypeError, "on_log= of Client takes a function"),
        ({"on_change": 5}, TypeError, "on_change= of Client takes a function"),
        ({"roots": 5}, TypeError, "roots= of Client takes a list of places, or a function, not 5"),
        ({"roots": "/home"}, TypeError, "roots are a list of places, not the text '/home'"),
        ({"roots": ["https://h/"]}, ValueError, "a root is a path or a file:// URI, such as Path.as_uri() writes"),
        ({"can": "elicitation.url"}, TypeError, "can= of Client takes a list of elicitation.url, sampling.tools"),
        ({"can": ["elicitation"]}, ValueError, "can= of Client takes a list of elicitation.url, sampling.tools"),
        ({"can": [["elicitation.url"]]}, TypeError, "can= of Client takes a list of elicitation.url, sampling.tools"),
        ({"on_elicit_complete": 5}, TypeError, "on_elicit_complete= of Client takes a function"),
        ({"protocol": 5}, TypeError, "protocol= of Client takes text"),
        ({"protocol": "newest"}, ValueError, "protocol must be 'auto', 'legacy', 'modern' or one of "),
        (
            {"timeout": "5"},
            TypeError,
            "timeout= of Client takes a number of seconds above 0, or None for ever, not '5'",
        ),
        ({"timeout": True}, TypeError, "timeout= of Client takes a number"),
        ({"timeout": 0}, ValueError, "timeout= of Client takes a number of seconds above 0, or None for ever, not 0"),
        ({"timeout": -1.5}, ValueError, "timeout= of Client takes a number of seconds above 0"),
        ({"timeout": float("nan")}, ValueError, "timeout= of Client takes a number of seconds above 0"),
        ({"info": {"name": "x"}}, TypeError, "info= of Client takes an Implementation; name= and version= make one"),
        ({"name": 5}, TypeError, "name= of Client takes text, not 5"),
        ({"version": 5, "name": "x"}, TypeError, "version= of Client takes text"),
        ({"version": "5"}, TypeError, "by name= (and version=), or by info= that has both"),
        ({"name": "x", "info": INFO}, TypeError, "by name= (and version=), or by info= that has both"),
        ({"extensions": 5}, TypeError, "extensions= of Client takes a list of `Extension`"),
        ({"on_state": 5}, TypeError, "on_state= of Client takes a function"),
        ({"restart": 5}, TypeError, "restart= of Client takes True or False, not 5"),
        ({"retries": True}, TypeError, "retries= of Client takes how often, 0 or more"),
        ({"retries": -1}, ValueError, "retries= of Client takes how often, 0 or more, not -1"),
        ({"max_message": "1"}, TypeError, "max_message= of Client takes a number of bytes above 0"),
        ({"max_message": 0}, ValueError, "max_message= of Client takes a number of bytes above 0, not 0"),
        ({"max_message": 5}, TypeError, "is for a command or a URL; scripted has no such option"),
    ],
)
def test_a_wrong_option_is_refused_at_once(options: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as caught:
        Client(modern(), **options)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("options", "info"),
    [
        ({}, {"name": "splice", "version": INFO.version}),
        ({"name": "host"}, {"name": "host", "version": ""}),
        ({"name": "host", "version": "7"}, {"name": "host", "version": "7"}),
        ({"info": Implementation(name="host", version="7", title="H")}, {"name": "host", "version": "7", "title": "H"}),
        ({"info": None, "name": None, "version": None}, {"name": "splice", "version": INFO.version}),
    ],
)
async def test_how_a_client_introduces_itself(options: Any, info: Any) -> None:
    async with Client(target := legacy(), protocol="legacy", **options):
        assert target.sent[0]["params"]["clientInfo"] == info


async def test_no_timeout_is_for_ever() -> None:
    async with Client(modern(tools__call=returning(DONE)), timeout=None) as client:
        assert client._calls.timeout == float("inf")
        with pytest.raises(ValueError, match=r"timeout= of a request takes a number of seconds above 0, .*, not 0"):
            await client.call_tool("t", timeout=0)
