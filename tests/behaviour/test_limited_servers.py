"""Servers that speak some versions only, on the wire: how each kind answers each opening, by stdio and by HTTP.

`ANSWERS` has a row for each thing a client may send first, and a column for each kind of server and transport. A
version (by its last digits, as in `test_pairings`) is agreed or discovered, `ok` is any other result, a negative number
is the code of an error; over HTTP errors come with their status.
"""

import asyncio
import json
from typing import Any

import pytest

from behaviour.test_pairings import SERVERS, SHORT
from splice import Server
from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION
from splice.types import VERSIONS
from support import limited_server
from support.listening import listening
from support.program import program
from support.raw_client import OverHTTP
from support.warm import warm_python
from support.wire import JSON, ask, initialize, note

KINDS = {**SERVERS, "11+26": [SHORT["11"], SHORT["26"]]}
LATER = "2031-01-01"


def named(method: str, version: str, **more: JSON) -> dict[str, JSON]:
    return ask(1, method, {"_meta": {META_PROTOCOL_VERSION: version, META_CLIENT_CAPABILITIES: {}, **more}})


def half(method: str) -> dict[str, JSON]:
    return ask(1, method, {"_meta": {META_CLIENT_CAPABILITIES: {}}})


OPENINGS: dict[str, tuple[dict[str, JSON], dict[str, str]]] = {
    "initialize-11": (initialize(SHORT["11"], id=1), {}),
    "initialize-06": (initialize(SHORT["06"], id=1), {}),
    "initialize-26": (initialize(SHORT["26"], id=1), {}),
    "initialize-later": (initialize(LATER, id=1), {}),
    "initialize-bad": (ask(1, "initialize", {"protocolVersion": 5}), {}),
    "discover": (named("server/discover", SHORT["26"]), {}),
    "list-26": (named("tools/list", SHORT["26"]), {}),
    "list-11": (named("tools/list", SHORT["11"]), {}),
    "list-later": (named("tools/list", LATER), {}),
    "unknown-26": (named("no/such", SHORT["26"]), {}),
    "half": (half("tools/list"), {}),
    "nothing": (ask(1, "tools/list"), {}),
    "nothing-header-11": (ask(1, "tools/list"), {"MCP-Protocol-Version": SHORT["11"]}),
    "nothing-header-26": (ask(1, "tools/list"), {"MCP-Protocol-Version": SHORT["26"]}),
    "nothing-header-later": (ask(1, "tools/list"), {"MCP-Protocol-Version": LATER}),
    "contradiction": (named("tools/list", SHORT["26"]), {"MCP-Protocol-Version": SHORT["11"]}),
    "ping": (ask(1, "ping"), {}),
}

ANSWERS = """
                      stdio                    http
                      24-11   26      11+26    24-11       26          11+26
initialize-11         11      -32022  11       11          400/-32022  11
initialize-06         06      -32022  11       06          400/-32022  11
initialize-26         11      -32022  11       11          400/-32022  11
initialize-later      11      -32022  11       11          400/-32022  11
initialize-bad        -32602  -32602  -32602   200/-32602  400/-32602  200/-32602
discover              -32601  26      26       400/-32022  26          26
list-26               -32022  ok      ok       400/-32022  ok          ok
list-11               -32022  -32022  -32022   400/-32602  400/-32022  400/-32022
list-later            -32022  -32022  -32022   400/-32022  400/-32022  400/-32022
unknown-26            -32022  -32601  -32601   400/-32022  404/-32601  404/-32601
half                  -32602  -32602  -32602   400/-32602  400/-32602  400/-32602
nothing               -32602  -32602  -32602   400/-32602  400/-32602  400/-32602
nothing-header-11     -32602  -32602  -32602   400/-32602  400/-32022  400/-32602
nothing-header-26     -32602  -32602  -32602   400/-32022  400/-32602  400/-32602
nothing-header-later  -32602  -32602  -32602   400/-32022  400/-32022  400/-32022
contradiction         -32022  ok      ok       400/-32602  400/-32020  400/-32020
ping                  ok      -32602  ok       400/-32602  400/-32602  400/-32602
"""


def cells() -> list[tuple[str, str, str, str]]:
    """Read the table: transport, server, opening, answer."""
    _, head, *rows = (line.split() for line in ANSWERS.strip().splitlines())
    wires = ["stdio"] * 3 + ["http"] * 3
    columns = list(zip(wires, head, strict=True))
    return [(*column, row, each) for row, *found in rows for column, each in zip(columns, found, strict=True)]


async def answered(transport: str, server: str, opening: str) -> tuple[JSON, int]:
    """Send the first message to a new server; the response, and its HTTP status."""
    message, headers = OPENINGS[opening]
    if transport == "stdio":
        async with program(limited_server.__file__, *KINDS[server], python=warm_python()) as process:
            return await process.request(message), 0
    async with listening(limited_server.build(KINDS[server]).http_app()) as url:
        http = OverHTTP(url)
        (response,) = await http.post(message, **{name.replace("-", "_"): value for name, value in headers.items()})
        return response, http.status


@pytest.mark.requirement(39, 65, 67, 73, 83, 84)
@pytest.mark.parametrize(("transport", "server", "opening", "expected"), cells())
async def test_each_kind_of_server_answers_each_opening(
    transport: str, server: str, opening: str, expected: str
) -> None:
    response, status = await answered(transport, server, opening)
    assert response["id"] == 1
    if expected in SHORT or expected == "ok":
        result = response["result"]
        (agreed,) = [*result.get("supportedVersions", ()), result.get("protocolVersion")][:1]
        assert agreed == SHORT.get(expected)
        return
    error = response["error"]
    said = [str(status)] * bool(status) + [str(error["code"])]
    assert "/".join(said) == expected
    if error["code"] == -32022:
        message, headers = OPENINGS[opening]
        sent = json.dumps(message) + "".join(headers.values())
        assert set(error["data"]["supported"]) <= set(KINDS[server])
        assert error["data"]["supported"]
        assert error["data"]["requested"] in sent
        assert all(version in error["message"] for version in error["data"]["supported"])


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize(
    ("server", "status", "allow"), [("26", 405, "POST"), ("11+26", 400, None), ("24-11", 400, None)]
)
async def test_only_a_server_with_sessions_has_more_than_post(
    method: str, server: str, status: int, allow: str | None
) -> None:
    app = limited_server.build(KINDS[server]).http_app()
    async with listening(app) as url:
        answer, _ = await asyncio.to_thread(OverHTTP(url).send, method, {"Accept": "text/event-stream"})
        assert (answer.status, answer.headers["Allow"]) == (status, allow)


@pytest.mark.parametrize(
    ("message", "status"),
    [(note("notifications/initialized"), 202), ({"jsonrpc": "2.0", "id": 9, "result": {}}, 400), ([], 400)],
)
@pytest.mark.requirement(124)
async def test_a_server_without_sessions_drops_notes_and_refuses_answers_and_batches(
    message: JSON, status: int
) -> None:
    async with listening(limited_server.build(KINDS["26"]).http_app()) as url:
        http = OverHTTP(url)
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        answer, _ = await asyncio.to_thread(
            http.send, "POST", fields | {"Mcp-Session-Id": "x", "Last-Event-ID": "1"}, json.dumps(message).encode()
        )
        assert answer.status == status


@pytest.mark.parametrize(
    ("server", "header", "status"),
    [("24-11", None, 200), ("24-11", "11", 200), ("11+26", None, 400), ("11+26", "11", 200), ("11+26", "06", 400)],
)
@pytest.mark.requirement(142)
async def test_without_sessions_the_header_or_its_absence_names_the_version(
    server: str, header: str | None, status: int
) -> None:
    """A request that names no version is one of 2025-03-26, which not every server speaks."""
    async with listening(limited_server.build(KINDS[server]).http_app(stateless=True)) as url:
        http = OverHTTP(url)
        fields = {} if header is None else {"MCP_Protocol_Version": SHORT[header]}
        (response,) = await http.post(ask(1, "tools/list"), **fields)
        assert http.status == status
        if status == 400:
            assert response["error"]["code"] == -32022
            assert response["error"]["data"]["requested"] == SHORT[header or "03"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("server", ["24-11", "11+26"])
async def test_a_session_does_not_let_versions_in_that_the_server_does_not_speak(transport: str, server: str) -> None:
    message = named("tools/list", LATER)
    if transport == "stdio":
        async with program(limited_server.__file__, *KINDS[server], python=warm_python()) as process:
            await process.open(SHORT["11"])
            assert (await process.request(message))["error"]["code"] == -32022
            assert "result" in await process.request(ask(2, "tools/list"))
        return
    async with listening(limited_server.build(KINDS[server]).http_app()) as url:
        http = OverHTTP(url)
        await http.ask(initialize(SHORT["11"]))
        (response,) = await http.post(message, Mcp_Session_Id=http.session, MCP_Protocol_Version=LATER)
        assert (http.status, response["error"]["code"]) == (400, -32022)
        (response,) = await http.post(ask(2, "tools/list"))
        assert "result" in response


# The option.


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("2025-11-25", TypeError),
        ([], ValueError),
        (["2025-11-24"], ValueError),
        ([SHORT["11"], "draft"], ValueError),
        ([5], TypeError),
        ({SHORT["11"]: 1}, TypeError),
    ],
    ids=str,
)
def test_the_option_is_checked_where_it_is_given(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"protocols= of Server takes a list of at least one of .*2026-07-28.*, not "):
        Server("s", protocols=value)


@pytest.mark.parametrize("value", [None, list(VERSIONS), tuple(reversed(VERSIONS)), [*VERSIONS, *VERSIONS]], ids=str)
def test_all_versions_are_spoken_by_default_in_any_order(value: Any) -> None:
    assert Server("s", protocols=value).service.protocols.all == VERSIONS


async def test_two_servers_of_one_process_have_a_set_each() -> None:
    first, second = Server("a", protocols=[SHORT["24"]]), Server("b", protocols=[SHORT["26"]])
    assert first.service.protocols.all == (SHORT["24"],)
    assert second.service.protocols.all == (SHORT["26"],)
