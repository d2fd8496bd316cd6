"""Sessions over HTTP as the client keeps them: headers, the GET stream, resuming, answering, and the end."""

import asyncio
import json
from typing import Any

import pytest

from splice.errors import ConnectionClosed, HTTPRefused, RemoteProtocolError, RequestTimeout, SessionLost
from splice.protocol.jsonrpc import Notification, Request, Response, Success, raw
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN, V2025_03_26, Facts
from splice.transports.http import client_session
from splice.transports.http.answers import Reading
from support.tables import rows
from support.wire import JSON
from transports.http.linking import Heard, Listener, SessionServer, exchange, handshake, linked, result
from transports.raw_http import Visit, until


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (0.01, 0.01, 0.01))
    monkeypatch.setattr(client_session, "DELETE_SECONDS", 0.3)


# The id and the version.


@pytest.mark.requirement(207)
async def test_the_session_and_the_version_are_repeated_and_the_session_is_ended() -> None:
    async with linked(SessionServer()) as (link, server):
        await handshake(link)
        assert await result(link) == "called"
        await link.close()
        first, *later = server.visits
        assert not {"mcp-session-id", "mcp-protocol-version"} & set(first.headers)
        assert [visit.method for visit in later] == ["POST", "GET", "POST", "DELETE"]
        assert {visit.headers["mcp-session-id"] for visit in later} == {"s-1"}
        assert {visit.headers["mcp-protocol-version"] for visit in later} == {LATEST_HANDSHAKE}
        assert not {"mcp-method", "mcp-name"} & {name for visit in server.visits for name in visit.headers}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
@pytest.mark.requirement(86)
async def test_the_version_header_where_the_version_has_it_and_no_session_where_none_was_given(version: str) -> None:
    server_type = SessionServer()
    server_type.session = None
    async with linked(server_type) as (link, server):
        await handshake(link, version)
        await exchange(link)
        await link.close()
        assert ("mcp-protocol-version" in server.seen("m")[0].headers) == FACTS[version].version_header
        assert "mcp-session-id" not in server.seen("m")[0].headers
        assert server.seen("DELETE") == []


async def test_a_probe_before_the_handshake_leaves_no_trace_in_it() -> None:
    class Unprobed(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.error(-32601, 400)

    async with linked(Unprobed()) as (link, server):
        link.agree(FACTS[LATEST_MODERN])
        await exchange(link, "server/discover")
        link.agree(None)
        await handshake(link)
        (initialize,) = server.seen("initialize")
        assert not [name for name in initialize.headers if name.startswith("mcp-")]
        assert server.seen("notifications/initialized")[0].headers["mcp-session-id"] == "s-1"


@pytest.mark.parametrize("reason", ["cancelled by the caller", "timeout"])
async def test_a_cancelled_request_is_told(reason: str) -> None:
    class Silent(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"})

    heard = Heard()
    async with linked(Silent()) as (link, server):
        await handshake(link)
        task = asyncio.ensure_future(exchange(link, hear=heard, id=5))
        await until(lambda: heard)
        task.cancel(*([RequestTimeout("No answer")] if reason == "timeout" else []))
        with pytest.raises(asyncio.CancelledError):
            await task
        (told,) = await until(lambda: server.seen("notifications/cancelled"))
        assert told.message["params"] == {"requestId": 5, "reason": reason}
        assert told.headers["mcp-session-id"] == "s-1"


@pytest.mark.parametrize("agreed", [None, FACTS[LATEST_HANDSHAKE]])
@pytest.mark.requirement(251)
async def test_a_handshake_is_never_cancelled(agreed: Facts | None) -> None:
    class Silent(SessionServer):
        async def __call__(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"})

    heard = Heard()
    async with linked(Silent()) as (link, server):
        link.agree(agreed)
        task = asyncio.ensure_future(exchange(link, "initialize", hear=heard))
        await until(lambda: heard)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.visits) == 1


@pytest.mark.parametrize("kind", ["refuses", "hangs", "breaks"])
async def test_a_server_that_does_not_take_its_leave(kind: str) -> None:
    class Rude(SessionServer):
        async def delete(self, visit: Visit) -> None:
            if kind == "refuses":
                await visit.reply(405)
            if kind == "breaks":
                visit.drop()

    async with linked(Rude()) as (link, server):
        await handshake(link)
        async with asyncio.timeout(2):
            await link.close()
        assert len(server.seen("DELETE")) == (2 if kind == "breaks" else 1)  # the HTTP library tries that twice


async def test_a_lost_session_is_told_apart_and_not_ended() -> None:
    class Forgetful(SessionServer):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()

        async def call(self, visit: Visit) -> None:
            await visit.error(-32001, 404)

    async with linked(Forgetful()) as (link, server):
        await handshake(link)
        for work in (exchange(link), exchange(link), exchange(link, "x")):
            with pytest.raises(SessionLost, match="does not know the session"):
                await work
        await link.close()
        assert server.seen("DELETE") == []
        await until(server.seen("GET")[0].left.is_set)


async def test_a_notification_can_find_the_session_lost_too() -> None:
    class Forgetful(SessionServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.body and visit.message.get("method") == "n":
                await visit.reply(404)
            else:
                await super().__call__(visit)

    async with linked(Forgetful()) as (link, _):
        await exchange(link, "initialize")
        link.agree(FACTS[LATEST_HANDSHAKE])
        with pytest.raises(SessionLost):
            await link.notify(Notification("n"))


async def test_without_a_session_id_404_is_a_refusal_like_any_other() -> None:
    class Nowhere(SessionServer):
        session = None

        async def call(self, visit: Visit) -> None:
            await visit.reply(404)

    async with linked(Nowhere()) as (link, _):
        await handshake(link)
        with pytest.raises(HTTPRefused, match="404"):
            await exchange(link)


# The server's requests.


class Asking(SessionServer):
    """Asks a question on the stream of each call, and answers with what came back."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[Any] = asyncio.Queue()

    async def __call__(self, visit: Visit) -> None:
        if visit.method == "POST" and "method" not in visit.message:
            self.answers.put_nowait(visit)
        await super().__call__(visit)

    async def call(self, visit: Visit) -> None:
        await visit.begin_stream()
        await visit.event({"id": "q", "method": "question", "params": {}})
        answer = await self.answers.get()
        await visit.event({"id": visit.message["id"], "result": [answer.message, answer.headers["mcp-session-id"]]})


async def test_questions_on_the_stream_of_a_request() -> None:
    class Answering(Listener):
        async def answer(self, request: Request) -> Response:
            return Success(request.id, raw({"to": request.method}))

    async with linked(Asking(), receiver=Answering()) as (link, _):
        await handshake(link)
        assert await result(link) == [{"jsonrpc": "2.0", "id": "q", "result": {"to": "question"}}, "s-1"]


class Thinking(Listener):
    """Has no answer until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.stopped = asyncio.Event(), asyncio.Event()

    async def answer(self, request: Request) -> Response:  # noqa: ARG002 - one question is like another
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError


async def test_a_question_that_is_withdrawn() -> None:
    receiver = Thinking()

    class Withdrawing(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"id": "q", "method": "question"})
            await receiver.asked.wait()
            for params in ({"requestId": "unknown"}, {}, {"requestId": 1.5}, None, {"requestId": "q"}):
                await visit.event({"method": "notifications/cancelled", "params": params})
            await visit.event({"id": visit.message["id"], "result": "done"})

    async with linked(Withdrawing(), receiver=receiver) as (link, server):
        await handshake(link)
        assert await result(link) == "done"
        await receiver.stopped.wait()
        assert await result(link) == "done"  # an answer would have left before this request
        assert [visit for visit in server.visits if visit.body and "method" not in visit.message] == []


async def test_closing_ends_the_work_on_an_answer() -> None:
    receiver = Thinking()
    async with linked(Asking(), receiver=receiver) as (link, _):
        await handshake(link)
        task = asyncio.ensure_future(exchange(link))
        await receiver.asked.wait()
        await link.close()
        assert receiver.stopped.is_set()
        with pytest.raises(ConnectionClosed, match="was closed"):
            await task


async def test_an_answer_the_server_does_not_want(caplog: pytest.LogCaptureFixture) -> None:
    class Unwilling(Asking):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and "method" not in visit.message:
                self.answers.put_nowait(visit)
                await visit.reply(500)
            else:
                await super().__call__(visit)

    async with linked(Unwilling()) as (link, _):
        await handshake(link)
        assert (await result(link))[0]["error"]["code"] == -32601
        await until(lambda: "could not send" in caplog.text)


async def test_a_server_that_asks_on_and_on_and_takes_no_answer(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_session, "MAX_POSTS", 5)
    monkeypatch.setattr(client_session, "POST_SECONDS", 0.2)

    class Pinging(SessionServer):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and "method" not in visit.message:
                await asyncio.Event().wait()
            await super().__call__(visit)

        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            for number in range(50):
                await visit.event({"id": number, "method": "ping"})
            await visit.event({"id": visit.message["id"], "result": "done"})

    async with linked(Pinging()) as (link, server):
        await handshake(link)
        assert await result(link) == "done"
        await until(lambda: caplog.text.count("within 0.2 s") == 5)
        assert len([visit for visit in server.visits if visit.body and "method" not in visit.message]) == 5
        assert caplog.text.count("they are dropped") == 1


# The GET stream, and streams that break.


@pytest.mark.parametrize("busy", [409, 429, 503])
@pytest.mark.requirement(181, 188, 196)
async def test_the_get_stream_is_reopened_after_its_last_event(busy: int) -> None:
    class Talking(SessionServer):
        gets = 0

        async def get(self, visit: Visit) -> None:
            self.gets += 1
            if self.gets == 2:
                await visit.reply(busy)
            elif self.gets == 4:
                await visit.reply(404)
            else:
                await visit.begin_stream()
                await visit.chunk(b"retry: 5\n\n")
                await visit.event({"method": f"n/{self.gets}"}, id=f"e{self.gets}")
                await visit.end_stream()

    listener = Listener()
    async with linked(Talking(), receiver=listener) as (link, server):
        await handshake(link)
        await until(lambda: len(server.seen("GET")) == 4)
        assert listener.hear == ["n/1", "n/3"]
        headers = [visit.headers for visit in server.seen("GET")]
        assert {each["accept"] for each in headers} == {"text/event-stream"}
        assert [each.get("last-event-id") for each in headers] == [None, "e1", "e1", "e3"]


async def test_the_size_of_a_message_is_bounded_on_the_get_stream_too() -> None:
    class Talking(SessionServer):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "small"})
            await visit.event({"method": "large", "params": {"text": "x" * 2000}})
            await visit.event({"method": "behind"})

    listener = Listener()
    async with linked(Talking(), receiver=listener, max_message=1000) as (link, server):
        await handshake(link)
        await until(lambda: len(server.seen("GET")) > 1)
        assert set(listener.hear) == {"small"}


async def test_a_get_stream_that_always_breaks_is_given_up() -> None:
    class Breaking(SessionServer):
        async def get(self, visit: Visit) -> None:
            visit.drop()

    async with linked(Breaking()) as (link, server):
        await handshake(link)
        await until(lambda: len(server.seen("GET")) == 8)  # one and three more; the HTTP library tries each twice
        await asyncio.sleep(0.05)  # longer than any wait before another attempt
        assert len(server.seen("GET")) == 8
        assert await result(link) == "called"


async def test_a_server_that_is_slow_to_open_the_get_stream_does_not_hold_up_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Silent(SessionServer):
        async def get(self, visit: Visit) -> None:
            pass

    monkeypatch.setattr(client_session, "STREAM_SECONDS", 0.01)
    async with linked(Silent()) as (link, server):
        await handshake(link)
        assert await result(link) == "called"
        assert len(server.seen("GET")) == 1


async def test_the_get_stream_carries_questions_too() -> None:
    class Streaming(SessionServer):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"})
            await visit.event({"id": 1, "result": "a response to nothing"})
            await visit.event({"method": "notifications/progress", "params": {"progressToken": 9, "progress": 1}})
            await visit.event({"id": "q", "method": "question"})

    listener = Listener()
    async with linked(Streaming(), receiver=listener) as (link, server):
        await handshake(link)
        await until(lambda: [visit for visit in server.visits if visit.body and "error" in visit.message])
        assert listener.hear == ["n", "notifications/progress"]
        assert len(server.seen("GET")) == 1


@pytest.mark.parametrize("first", [b"id: a\nretry: 5\ndata:\n\n", b"id: a\n\nretry: 5\n\n"])
async def test_the_stream_of_a_request_is_resumed_where_the_server_gave_ids(first: bytes) -> None:
    class Resumable(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(first)
            visit.drop()

        async def get(self, visit: Visit) -> None:
            if "last-event-id" not in visit.headers:
                await visit.reply(405)
                return
            await visit.begin_stream()
            await visit.event({"method": "n"})
            await visit.event({"id": 1, "result": "resumed"})

    heard = Heard()
    async with linked(Resumable()) as (link, server):
        await handshake(link)
        assert await result(link, hear=heard) == "resumed"
        assert heard == ["n"]
        assert server.seen("GET")[-1].headers["last-event-id"] == "a"


@pytest.mark.parametrize("status", [400, 405, 503])
async def test_the_stream_of_a_request_that_cannot_be_resumed(status: int) -> None:
    class Stubborn(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.event({"method": "n"}, id="a")
            await visit.end_stream()

        async def get(self, visit: Visit) -> None:
            await visit.reply(status)

    async with linked(Stubborn()) as (link, _):
        await handshake(link)
        with pytest.raises(ConnectionClosed, match="before the response"):
            await exchange(link)


@pytest.mark.parametrize(("ours", "theirs"), [(60.0, 20), (0.0, 300)])
async def test_the_server_says_how_long_to_wait_before_reconnecting(
    monkeypatch: pytest.MonkeyPatch, ours: float, theirs: int
) -> None:
    waits: list[float] = []
    wait = client_session._wait

    def noted(reading: Reading, failures: int) -> float:
        waits.append(wait(reading, failures))
        return 0.0

    class Patient(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(b"id: a\nretry: %d\ndata:\n\n" % theirs)
            await visit.end_stream()

        async def get(self, visit: Visit) -> None:
            if "last-event-id" not in visit.headers:
                await visit.reply(405)
                return
            await visit.begin_stream()
            await visit.event({"id": 1, "result": "resumed"})

    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (ours,))
    monkeypatch.setattr(client_session, "_wait", noted)
    async with linked(Patient()) as (link, _):
        await handshake(link)
        assert await result(link) == "resumed"
    [seconds] = waits
    assert theirs / 1000 <= seconds < 1


async def test_an_event_id_that_fits_no_header_is_not_repeated() -> None:
    class Odd(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(b"id: a\x01b\ndata:\n\n")
            await visit.end_stream()

    async with linked(Odd()) as (link, server):
        await handshake(link)
        with pytest.raises(ConnectionClosed, match="before the response"):
            await exchange(link)
        assert len(server.seen("GET")) == 1


async def test_a_batch_on_the_get_stream() -> None:
    class Batching(SessionServer):
        async def get(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(b'data: [{"jsonrpc":"2.0","method":"n/1"},{"jsonrpc":"2.0","method":"n/2"}]\n\n')

    listener = Listener()
    async with linked(Batching(), receiver=listener) as (link, _):
        await handshake(link, V2025_03_26)
        await until(lambda: listener.hear == ["n/1", "n/2"])


def note(number: int) -> JSON:
    return {"jsonrpc": "2.0", "method": f"n/{number}"}


def response(id: JSON, result: JSON = "done") -> JSON:
    return {"jsonrpc": "2.0", "id": id, "result": result}


QUESTION: JSON = {"jsonrpc": "2.0", "id": "q", "method": "question"}

BATCHES: dict[str, tuple[list[JSON], list[str], int]] = {
    "one response": ([[response(1)]], [], 0),
    "notifications around it": ([[note(1), response(1), note(2)]], ["n/1", "n/2"], 0),
    "a response to nothing before it": ([[response(77, "foreign"), response(1)]], [], 0),
    "the response twice: the first counts": ([[response(1), response(1, "again")]], [], 0),
    "a question": ([[QUESTION, note(1), response(1)]], ["n/1"], 1),
    "what is no message": ([[5, {"jsonrpc": "2.0"}, None, [], note(1), response(1)]], ["n/1"], 0),
    "as many as may be": ([[*(note(number) for number in range(99)), response(1)]], [f"n/{n}" for n in range(99)], 0),
    "the id as text": ([[response("1")]], [], 0),
}
"""Bodies with the response -> notifications that are heard, and questions that are answered."""

STREAMED: dict[str, tuple[list[JSON], list[str], int]] = {
    "several batches": ([[note(1), note(2)], [note(3)], [response(1)]], ["n/1", "n/2", "n/3"], 0),
    "a batch and a message": ([[note(1), QUESTION], response(1)], ["n/1"], 1),
    "an empty one first": ([[], response(1)], [], 0),
    "too many first": ([[note(number) for number in range(101)], response(1)], [], 0),
    "a response to nothing first": ([[response(77)], [response(1)]], [], 0),
}


class Batching(SessionServer):
    """Answers each call with these bodies: as the events of a stream, or as one JSON body."""

    def __init__(self, bodies: list[JSON], *, streamed: bool) -> None:
        self.bodies = bodies
        self.streamed = streamed

    async def call(self, visit: Visit) -> None:
        if not self.streamed:
            await visit.json(self.bodies[0])
            return
        await visit.begin_stream()
        for body in self.bodies:
            await visit.chunk(b"data: " + json.dumps(body).encode() + b"\n\n")
        await visit.end_stream()


@pytest.mark.parametrize(
    ("shape", "streamed"),
    [*((shape, way) for shape in BATCHES for way in (True, False)), *((s, True) for s in STREAMED)],
)
async def test_batches(shape: str, streamed: bool) -> None:
    bodies, notes, questions = (BATCHES | STREAMED)[shape]
    heard = Heard()
    async with linked(Batching(bodies, streamed=streamed)) as (link, server):
        await handshake(link, V2025_03_26)
        assert await result(link, hear=heard) == "done"
        assert heard == notes
        await until(lambda: len([visit for visit in server.visits if "error" in (visit.message or {})]) == questions)


@rows("streamed", [True, False])
@rows(
    "body",
    [[], [note(1)], [response(77)], [note(number) for number in range(100)] + [response(1)], [[response(1)]], [None]],
    ids=["empty", "only notes", "only a foreign response", "over 100", "nested", "null"],
)
async def test_batches_without_the_response(body: JSON, streamed: bool) -> None:
    async with linked(Batching([body], streamed=streamed)) as (link, _):
        await handshake(link, V2025_03_26)
        with pytest.raises((RemoteProtocolError, ConnectionClosed), match=r"[Tt]he response"):
            await exchange(link)


async def test_a_batch_in_a_resumed_stream() -> None:
    class Resumed(Batching):
        async def call(self, visit: Visit) -> None:
            await visit.begin_stream()
            await visit.chunk(b"id: a\nretry: 1\ndata: [" + json.dumps(note(1)).encode() + b"]\n\n")
            visit.drop()

        async def get(self, visit: Visit) -> None:
            if "last-event-id" in visit.headers:
                await super().call(visit)
            else:
                await visit.reply(405)

    heard = Heard()
    async with linked(Resumed([[note(2), response(1)]], streamed=True)) as (link, _):
        await handshake(link, V2025_03_26)
        assert await result(link, hear=heard) == "done"
        assert heard == ["n/1", "n/2"]


async def test_a_lost_session_names_the_remedy() -> None:
    class Forgetful(SessionServer):
        async def call(self, visit: Visit) -> None:
            await visit.error(-32001, 404)

    async with linked(Forgetful()) as (link, _):
        await handshake(link)
        with pytest.raises(SessionLost, match=r"sticky routing, or no sessions .*stateless=True"):
            await exchange(link)
