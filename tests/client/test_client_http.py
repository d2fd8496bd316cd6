"""The client and HTTP servers that are old, forgetful, closed or gone."""

import asyncio
from typing import Any

import pytest

from splice import Client, HTTPServer
from splice.errors import (
    ConnectFailed,
    ConnectionClosed,
    HTTPRefused,
    RemoteProtocolError,
    RequestTimeout,
    RPCError,
    SessionLost,
)
from transports.raw_http import RawServer, Visit, raw_server, until

DONE = {"content": [{"type": "text", "text": "done"}]}


class Old:
    """A legacy server, which has never heard of probes; sessions may be forgotten."""

    def __init__(self, *, probe: int = 400) -> None:
        self.probe = probe
        self.sessions: list[str] = []
        self.called = asyncio.Event()

    async def __call__(self, visit: Visit) -> None:
        if visit.method != "POST":
            await visit.reply(405)
            return
        message = visit.message
        if message["method"] == "server/discover":
            await visit.reply(self.probe, b"Bad Request: unsupported protocol version")
        elif message["method"] == "initialize":
            self.sessions.append(f"s-{len(visit.headers)}-{len(self.sessions)}")
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"},
            }
            await visit.result(result, mcp_session_id=self.sessions[-1])
        elif self.sessions and visit.headers.get("mcp-session-id") != self.sessions[-1]:
            await visit.error(-32001, 404)
        elif "id" not in message:
            await visit.reply(202)
        else:
            self.called.set()
            await visit.result(DONE)


@pytest.mark.parametrize("probe", [400, 404, 405, 415, 500, 501, 502])
async def test_an_old_server_sees_nothing_of_the_probe_afterwards(probe: int) -> None:
    async with raw_server(Old(probe=probe)) as server, Client(server.url) as client:
        assert client.protocol_version == "2025-06-18"
        assert (await client.call_tool("t")).text == "done"
        (first,) = server.seen("initialize")
        assert not [name for name in first.headers if name.startswith("mcp-")]
        (call,) = server.seen("tools/call")
        assert call.headers["mcp-protocol-version"] == "2025-06-18"
        assert "mcp-method" not in call.headers


async def test_a_forgotten_session_is_opened_again_by_itself() -> None:
    old = Old()
    async with raw_server(old) as server, Client(server.url) as client:
        await client.call_tool("t")
        old.sessions.append("restarted")
        results = await asyncio.gather(*(client.call_tool("t") for _ in range(5)))
        assert [result.text for result in results] == ["done"] * 5
        assert len(server.seen("initialize")) == 2
        assert len(server.seen("notifications/initialized")) == 2


@pytest.mark.parametrize("status", [401, 403, 503, 504])
async def test_what_says_nothing_about_the_era_is_no_reason_to_fall_back(status: int) -> None:
    async with raw_server(Old(probe=status)) as server:
        with pytest.raises(HTTPRefused, match=f"HTTP {status}: Bad Request"):
            await Client(server.url).open()
        assert server.seen("initialize") == []


async def test_a_redirect_elsewhere_is_no_reason_to_go_there() -> None:
    async with raw_server(Old()) as sink, raw_server(lambda visit: visit.reply(307, location=sink.url)) as server:
        with pytest.raises(HTTPRefused, match="redirect"):
            await Client(HTTPServer(server.url, headers={"Authorization": "Bearer t"})).open()
        assert sink.visits == []


async def test_a_silent_server() -> None:
    async def silent(visit: Visit) -> None:
        await asyncio.Event().wait()

    async with raw_server(silent) as server:
        with pytest.raises(RequestTimeout, match="did not answer"):
            await Client(server.url, timeout=0.1).open()


async def test_a_server_that_is_restarted_between_calls() -> None:
    old = Old()
    async with raw_server(old) as server, Client(server.url) as client:
        await client.call_tool("t")
        for connection in tuple(server.connections):
            connection.transport.abort()
        await until(lambda: not server.connections)
        assert (await client.call_tool("t")).text == "done"


async def test_a_server_that_breaks_off_in_the_middle_of_a_call() -> None:
    class Breaking(Old):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and visit.message["method"] == "tools/call":
                visit.drop()
            else:
                await super().__call__(visit)

    async with raw_server(Breaking()) as server, Client(server.url) as client:
        with pytest.raises(ConnectionClosed, match=server.url):
            await client.call_tool("t")


async def test_questions_of_an_old_server_are_answered_in_the_middle_of_a_call() -> None:
    answers: asyncio.Queue[Any] = asyncio.Queue()

    class Asking(Old):
        async def __call__(self, visit: Visit) -> None:
            message = visit.message
            if visit.method == "POST" and "method" not in message:
                answers.put_nowait(message["result"])
                await visit.reply(202)
            elif visit.method == "POST" and message["method"] == "tools/call":
                await visit.begin_stream()
                schema = {"type": "object", "properties": {"a": {"type": "integer", "default": 5}}}
                params = {"message": "?", "requestedSchema": schema}
                await visit.event({"id": 1, "method": "elicitation/create", "params": params})
                text = str(await answers.get())
                await visit.event({"id": message["id"], "result": {"content": [{"type": "text", "text": text}]}})
            else:
                await super().__call__(visit)

    async with raw_server(Asking()) as server, Client(server.url, on_elicit=lambda _: "accept") as client:
        assert (await client.call_tool("t")).text == "{'action': 'accept', 'content': {'a': 5}}"


async def test_nobody_there() -> None:
    async with raw_server(Old()) as server:
        url = server.url
    assert isinstance(server, RawServer)
    with pytest.raises(ConnectFailed, match="nothing listens at"):
        await Client(url).open()


# A lost session, seen on the wire.


def carries_what_it_must(server: RawServer) -> bool:
    """Tell whether everything but `initialize` carried the version and a session id."""
    opening = server.seen("initialize")
    later = [visit.headers for visit in server.visits if visit not in opening]
    return all("mcp-session-id" in each and each.get("mcp-protocol-version") == "2025-06-18" for each in later)


class Forgets(Old):
    """Forgets its session when told to, and asks a question in the middle of the tool `ask`."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: asyncio.Queue[int] = asyncio.Queue()

    async def __call__(self, visit: Visit) -> None:
        message = visit.message
        if message and message.get("method") == "tools/call" and message["params"]["name"] == "ask":
            await visit.begin_stream()
            self.sessions.append("forgotten")
            await visit.event({"id": "q", "method": "ping"})
            await self.answers.get()
            await visit.event({"id": message["id"], "result": DONE})
        elif message and message.get("method") == "tools/call" and message["params"]["name"] == "hang":
            await visit.begin_stream()
            self.called.set()
        elif message and "method" not in message:
            await visit.reply(404)
            self.answers.put_nowait(404)
        elif message and "id" not in message and visit.headers.get("mcp-session-id") != self.sessions[-1]:
            await visit.reply(404)
        else:
            await super().__call__(visit)


@pytest.mark.parametrize("at_once", [1, 6])
async def test_calls_in_flight_when_the_session_is_lost_all_succeed(at_once: int) -> None:
    old = Forgets()
    async with raw_server(old) as server, Client(server.url, protocol="legacy") as client, asyncio.timeout(5):
        for _ in range(3):
            old.sessions.append("restarted")
            results = await asyncio.gather(*(client.call_tool("t") for _ in range(at_once)))
            assert [result.text for result in results] == ["done"] * at_once
        assert len(server.seen("initialize")) == 4
        assert carries_what_it_must(server)


@pytest.mark.requirement(201, 204, 206)
async def test_a_notification_that_meets_a_lost_session_opens_another() -> None:
    old = Forgets()
    async with (
        raw_server(old) as server,
        Client(server.url, protocol="legacy", roots=[]) as client,
        asyncio.timeout(5),
    ):
        old.sessions.append("restarted")
        await client.roots_changed()
        assert len(server.seen("initialize")) == 2
        assert len(server.seen("notifications/roots/list_changed")) == 2
        assert (await client.call_tool("t")).text == "done"
        assert len(server.seen("initialize")) == 2
        assert carries_what_it_must(server)


@pytest.mark.requirement(204)
async def test_an_answer_that_meets_a_lost_session_ends_the_call_unrepeated_and_leads_to_another() -> None:
    old = Forgets()
    async with raw_server(old) as server, Client(server.url, protocol="legacy") as client, asyncio.timeout(5):
        with pytest.raises(SessionLost, match="does not know the session any more"):
            await client.call_tool("ask")
        assert len(server.seen("tools/call")) == 1
        assert (await client.call_tool("t")).text == "done"
        assert len(server.seen("initialize")) == 2
        assert carries_what_it_must(server)


@pytest.mark.requirement(204)
async def test_a_cancellation_that_meets_a_lost_session_leads_to_another() -> None:
    old = Forgets()
    async with raw_server(old) as server, Client(server.url, protocol="legacy") as client, asyncio.timeout(5):
        call = asyncio.ensure_future(client.call_tool("hang"))
        await old.called.wait()
        old.sessions.append("restarted")
        call.cancel()
        await until(lambda: server.seen("notifications/cancelled"))
        assert (await client.call_tool("t")).text == "done"
        assert len(server.seen("initialize")) == 2
        assert carries_what_it_must(server)


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_a_server_that_does_not_take_initialized_is_used_all_the_same(status: int) -> None:
    class Picky(Old):
        async def __call__(self, visit: Visit) -> None:
            if visit.body and visit.message.get("method") == "notifications/initialized":
                await visit.reply(status)
            else:
                await super().__call__(visit)

    async with raw_server(Picky()) as server, Client(server.url, protocol="legacy") as client:
        assert (await client.call_tool("t")).text == "done"
        assert len(server.seen("initialize")) == 1


async def test_timeouts_and_cancellations_leave_no_connection() -> None:
    async def silent(visit: Visit) -> None:
        if visit.message["method"] == "server/discover":
            await visit.result({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})

    async with raw_server(silent) as server, Client(server.url, timeout=5) as client:
        timed_out = [asyncio.ensure_future(client.call_tool("t", timeout=2)) for _ in range(150)]
        cancelled = [asyncio.ensure_future(client.call_tool("t")) for _ in range(150)]
        await until(lambda: len(server.visits) == 301)
        for each in cancelled:
            each.cancel()
        outcomes = await asyncio.gather(*timed_out, *cancelled, return_exceptions=True)
        assert {type(each) for each in outcomes} == {RequestTimeout, asyncio.CancelledError}
        await until(lambda: len(server.connections) <= 1)
        await client.close()
        await until(lambda: not server.connections)


async def test_nothing_secret_is_shown() -> None:
    async with raw_server(lambda visit: visit.reply(404)) as server:
        secret = server.url.replace("http://", "http://ann:s3cr3t@") + "?key=s3cr3t"
        with pytest.raises(HTTPRefused) as refused:
            await Client(secret).open()
    with pytest.raises(ConnectFailed) as failed:
        await Client(secret).open()
    for caught in (refused, failed):
        assert "s3cr3t" not in str(caught.value)
        assert server.url in str(caught.value)


# A server that is too busy.


class Busy:
    """A modern server that refuses a method a number of times, then answers."""

    def __init__(self, status: int, times: int, *, answered: bool = False, **headers: str) -> None:
        self.status = status
        self.times = times
        self.answered = answered
        self.headers = headers

    async def __call__(self, visit: Visit) -> None:
        message = visit.message
        if message["method"] == "server/discover":
            await visit.result({"supportedVersions": ["2026-07-28"], "capabilities": {}})
        elif self.times and message["method"] != "tools/list":
            self.times -= 1
            error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": 429, "message": "too many"}}
            await visit.json(error if self.answered else {}, self.status, **self.headers)
        else:
            await visit.result(DONE)


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_server_is_asked_again_where_it_says_when(status: int, answered: bool) -> None:
    busy = Busy(status, 2, answered=answered, retry_after="0")
    async with asyncio.timeout(10), raw_server(busy) as server, Client(server.url, retries=2) as client:
        assert (await client.call_tool("t")).text == "done"
        assert len(server.seen("tools/call")) == 3


@pytest.mark.parametrize("wait", [None, "61", "-1", "1e5", "soon", "٣", "9" * 200, "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_a_busy_server_that_names_no_time_or_a_long_one_is_not_waited_for(wait: str | None) -> None:
    busy = Busy(429, 1)
    busy.headers = {} if wait is None else {"retry_after": wait}
    async with asyncio.timeout(2), raw_server(busy) as server, Client(server.url, retries=5) as client:
        with pytest.raises(HTTPRefused, match="HTTP 429"):
            await client.call_tool("t")
        assert len(server.seen("tools/call")) == 1


@pytest.mark.requirement(136)
async def test_what_a_broken_stream_would_have_brought_is_asked_for_anew() -> None:
    async def breaks_once(visit: Visit) -> None:
        if visit.message["method"] == "server/discover":
            await visit.result({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        elif len(server.seen("tools/list")) == 1:
            await visit.begin_stream()
            visit.drop()
        else:
            await visit.result({"tools": []})

    async with asyncio.timeout(10), raw_server(breaks_once) as server, Client(server.url, retries=1) as client:
        assert await client.list_tools() == []
        first, second = (visit.message["id"] for visit in server.seen("tools/list"))
        assert first != second


@pytest.mark.parametrize(("retries", "calls"), [(0, 1), (1, 2)])
async def test_what_a_busy_server_says_in_the_end_is_raised(retries: int, calls: int) -> None:
    busy = Busy(429, 9, answered=True, retry_after="0")
    async with asyncio.timeout(10), raw_server(busy) as server, Client(server.url, retries=retries) as client:
        with pytest.raises(RPCError, match="too many"):
            await client.call_tool("t")
        assert len(server.seen("tools/call")) == calls


async def test_a_busy_server_is_waited_for_no_longer_than_the_call_may_take() -> None:
    busy = Busy(503, 1, retry_after="30")
    async with asyncio.timeout(5), raw_server(busy) as server, Client(server.url, retries=5) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("t", timeout=0.1)
        waiting = asyncio.ensure_future(client.call_tool("t"))
        busy.times = 1
        await until(lambda: len(server.seen("tools/call")) == 2)
        await client.close()
        with pytest.raises(ConnectionClosed, match=r"is closed|was closed"):
            await waiting


@pytest.mark.parametrize("stream", [True, False])
async def test_a_message_over_the_limit_names_the_option(stream: bool) -> None:
    async def large(visit: Visit) -> None:
        if visit.message["method"] == "server/discover":
            await visit.result({"supportedVersions": ["2026-07-28"], "capabilities": {}})
        elif stream:
            await visit.begin_stream()
            await visit.event({"id": visit.message["id"], "result": {"content": [], "x": "x" * 5000}})
        else:
            await visit.result({"content": [], "x": "x" * 5000})

    async with raw_server(large) as server:
        for target in (server.url, HTTPServer(server.url)):
            async with asyncio.timeout(5), Client(target, max_message=5000) as client:
                with pytest.raises(RemoteProtocolError, match=r"5000 bytes; Client\(\.\.\., max_message=\) sets it"):
                    await client.call_tool("t")
            async with asyncio.timeout(5), Client(target) as client:
                assert (await client.call_tool("t")).content == []
