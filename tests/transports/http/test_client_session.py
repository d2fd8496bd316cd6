"""Streams that break, up to 2025-11-25: wherever they do, each message arrives once, or the call fails clearly."""

import asyncio
import json

import pytest

from splice.errors import ConnectionClosed, RemoteProtocolError
from splice.protocol.jsonrpc import Success, raw
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN
from splice.transports import tasks
from splice.transports.base import Outgoing
from splice.transports.http import answers, client_session
from splice.transports.http.link import HTTPLink
from transports.http.linking import Heard, Listener, SessionServer, exchange, handshake, linked, result
from transports.raw_http import Visit, until

RESUMABLE = [version for version in HANDSHAKE_VERSIONS if FACTS[version].resumable]
EVENTS = 4


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (0.01, 0.01, 0.01))
    monkeypatch.setattr(client_session, "LEAST_SECONDS", 0.001)


def events(id: int, end: str = "\n") -> list[bytes]:
    """Write the stream of a call: an event that primes, two notifications and the response."""
    notes = [{"jsonrpc": "2.0", "method": f"n/{number}"} for number in (1, 2)]
    messages = ["", *map(json.dumps, [*notes, {"jsonrpc": "2.0", "id": id, "result": "done"}])]
    fields = [("retry: 1", f"id: {id}/{at}", f"data: {message}") for at, message in enumerate(messages)]
    return [end.join((*lines, "", "")).encode() for lines in fields]


class Cutting(SessionServer):
    """Cuts the stream of each call, and each one that resumes it, at a place of its own.

    `cut` is how many bytes of the first stream are sent. `replays` says with what a resumed stream begins: with what
    comes `after` the last event, or with `all`, and how many new events it brings at most.
    """

    def __init__(self, *, replays: str = "after", most: int = EVENTS, clean: bool = False, end: str = "\n") -> None:
        self.replays = replays
        self.most = most
        self.clean = clean
        self.end = end
        self.cursors: dict[int, list[int]] = {}

    async def finish(self, visit: Visit) -> None:
        if self.clean:
            await visit.end_stream()
        else:
            visit.drop()

    async def call(self, visit: Visit) -> None:
        id, cut = visit.message["id"], visit.message["params"]["cut"]
        await visit.begin_stream()
        if cut:
            await visit.chunk(b"".join(events(id, self.end))[:cut])
        await self.finish(visit)

    async def get(self, visit: Visit) -> None:
        cursor = visit.headers.get("last-event-id")
        if cursor is None:
            await visit.reply(405)
            return
        id, at = map(int, cursor.split("/"))
        self.cursors.setdefault(id, []).append(at)
        await visit.begin_stream()
        for event in events(id, self.end)[0 if self.replays == "all" else at + 1 : at + 1 + self.most]:
            await visit.chunk(event)
        await self.finish(visit)


async def call(link: HTTPLink, id: int, cut: int, hear: Heard) -> str:
    async with asyncio.timeout(20):
        response = await link.exchange(Outgoing(id, "tools/call", raw({"cut": cut}), hear))
        assert isinstance(response, Success)
        return bytes(response.result).decode()


@pytest.mark.parametrize(
    ("replays", "most", "clean", "end"),
    [
        ("after", EVENTS, False, "\n"),
        ("after", 1, True, "\r\n"),
        ("after", EVENTS, True, "\r"),
        ("all", EVENTS, True, "\n"),
        ("all", 1, False, "\r\n"),
    ],
)
async def test_a_stream_may_break_at_any_byte(replays: str, most: int, clean: bool, end: str) -> None:
    """Each call is cut at another byte; the longer ones are numbered 100 and up, so that they are equally long."""
    server_type = Cutting(replays=replays, most=most, clean=clean, end=end)
    size, primed = len(b"".join(events(100, end))), len(events(100, end)[0])
    whole = size - (1 if end == "\r\n" else 0)  # after a CR, the LF is not waited for
    async with linked(server_type) as (link, _):
        await handshake(link)
        heard = {cut: Heard() for cut in range(size)}
        outcomes = await asyncio.gather(
            *(call(link, 100 + cut, cut, heard[cut]) for cut in heard), return_exceptions=True
        )
        for cut, outcome in enumerate(outcomes):
            if cut < primed - (1 if end == "\r\n" else 0):
                assert isinstance(outcome, ConnectionClosed), cut
                assert heard[cut] == [], cut
                assert 100 + cut not in server_type.cursors, cut
            else:
                assert outcome == '"done"', (cut, outcome)
                assert heard[cut] == ["n/1", "n/2"], cut
                assert (100 + cut in server_type.cursors) == (cut < whole), cut


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_only_versions_that_have_it_resume(version: str) -> None:
    server_type = Cutting()
    async with linked(server_type) as (link, _):
        await handshake(link, version)
        if version in RESUMABLE:
            assert (await call(link, 100, 60, Heard())) == '"done"'
        else:
            with pytest.raises(ConnectionClosed, match="ended the stream before the response"):
                await call(link, 100, 60, Heard())
            assert server_type.cursors == {}


async def test_a_modern_stream_is_never_resumed() -> None:
    async with linked(Cutting()) as (link, server):
        link.agree(FACTS[LATEST_MODERN])
        with pytest.raises(ConnectionClosed, match="ended the stream before the response"):
            await call(link, 100, 60, Heard())
        assert server.seen("GET") == []


class Scripted(SessionServer):
    """Sends one piece for the call, and then one for each stream that resumes it; a number is a status."""

    def __init__(self, *pieces: bytes | int) -> None:
        self.pieces = list(pieces)
        self.cursors: list[str] = []

    async def call(self, visit: Visit) -> None:
        await self.play(visit)

    async def get(self, visit: Visit) -> None:
        if "last-event-id" in visit.headers:
            self.cursors.append(visit.headers["last-event-id"])
            await self.play(visit)
        else:
            await visit.reply(405)

    async def play(self, visit: Visit) -> None:
        piece = self.pieces.pop(0) if self.pieces else b""
        if isinstance(piece, int):
            await visit.reply(piece)
            return
        await visit.begin_stream()
        if piece:
            await visit.chunk(piece)
        await visit.end_stream()


RESPONSE = b'data: {"jsonrpc":"2.0","id":1,"result":"done"}\n\n'


def say(method: str, id: str = "") -> bytes:
    return (b"id: %s\n" % id.encode() if id else b"") + b'data: {"jsonrpc":"2.0","method":"%s"}\n\n' % method.encode()


Script = tuple[list[bytes | int], list[str], list[str]]
GOOD: dict[str, Script] = {
    "resumed streams that bring nothing": ([say("a", "1"), b"", b"", RESPONSE], ["a"], ["1", "1", "1"]),
    "statuses between": ([say("a", "1"), 503, 429, RESPONSE], ["a"], ["1", "1", "1"]),
    "an id for each of many tries": (
        [say("a", "1"), b"", b"", say("b", "2"), b"", b"", say("c", "3"), b"", b"", RESPONSE],
        ["a", "b", "c"],
        ["1", "1", "1", "2", "2", "2", "3", "3", "3"],
    ),
    "an id alone moves the cursor": ([say("a", "1"), b"id: 2\n\n", RESPONSE], ["a"], ["1", "2"]),
    "events without an id": ([say("a", "1") + say("b") + say("c"), say("d") + RESPONSE], ["a", "b", "c", "d"], ["1"]),
    "all again": ([say("a", "1") + say("b", "2"), say("a", "1") + say("b", "2") + RESPONSE], ["a", "b"], ["2"]),
    "all again, twice": (
        [say("a", "1"), say("a", "1") + say("b", "2"), say("a", "1") + say("b", "2") + say("c", "3") + RESPONSE],
        ["a", "b", "c"],
        ["1", "2"],
    ),
    "a response without an id, after what was seen": ([say("a", "1"), say("a", "1") + RESPONSE], ["a"], ["1"]),
    "the same id twice on one stream": ([say("a", "1") + say("b", "1") + RESPONSE], ["a", "b"], []),
    "the response twice": ([say("a", "1"), RESPONSE + RESPONSE], ["a"], ["1"]),
}


@pytest.mark.parametrize("script", GOOD)
async def test_a_stream_is_resumed_until_the_response_is_there(script: str) -> None:
    pieces, notes, cursors = GOOD[script]
    server_type, heard = Scripted(*pieces), Heard()
    async with linked(server_type) as (link, _):
        await handshake(link)
        assert await result(link, hear=heard) == "done"
        assert heard == notes
        assert server_type.cursors == cursors


BAD: dict[str, tuple[list[bytes | int], int, str]] = {
    "nothing new, again and again": ([say("a", "1")], 3, "ended the stream before the response"),
    "the same again and again": ([say("a", "1")] * 99, 3, "ended the stream before the response"),
    "statuses": ([say("a", "1"), 503, 500, 502, 503], 3, "ended the stream before the response"),
    "gone": ([say("a", "1"), 404], 1, "ended the stream before the response"),
    "refused": ([say("a", "1"), 400], 1, "ended the stream before the response"),
    "a malformed response": (
        [say("a", "1"), b'id: 2\ndata: {"jsonrpc":"2.0","id":1,"error":"text"}\n\n'], 1, "not a JSON-RPC message",
    ),
    "an event that is too large": ([say("a", "1"), b"data: " + b"x" * 2000], 1, "limit of 1000 bytes"),
}  # fmt: skip


@pytest.mark.parametrize("script", BAD)
async def test_a_stream_that_cannot_be_resumed_is_given_up(script: str) -> None:
    pieces, tries, told = BAD[script]
    server_type = Scripted(*pieces)
    async with linked(server_type, max_message=1000) as (link, _):
        await handshake(link)
        with pytest.raises((ConnectionClosed, RemoteProtocolError), match=told):
            await exchange(link)
        assert server_type.cursors == ["1"] * tries


async def test_each_stream_has_a_cursor_of_its_own() -> None:
    server_type = Cutting(most=1)
    async with linked(server_type) as (link, _):
        await handshake(link)
        cuts = {id: len(b"".join(events(id)[: id - 100 + 1])) for id in (100, 101, 102)}
        await asyncio.gather(*(call(link, id, cut, Heard()) for id, cut in cuts.items()))
        assert server_type.cursors == {100: [0, 1, 2], 101: [1, 2], 102: [2]}


async def test_few_ids_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_SEEN", 2)
    many = b"".join(say(f"n/{number}", str(number)) for number in range(5))
    heard = Heard()
    async with linked(Scripted(many, many + RESPONSE)) as (link, _):
        await handshake(link)
        assert await result(link, hear=heard) == "done"
        assert heard[5:] == ["n/0", "n/1", "n/2"]


async def test_a_get_stream_is_resumed_and_brings_nothing_twice() -> None:
    class Replaying(SessionServer):
        gets = 0

        async def get(self, visit: Visit) -> None:
            self.gets += 1
            await visit.begin_stream()
            for number in range(self.gets):
                await visit.chunk(say(f"n/{number}", str(number)))
            if self.gets < 4:
                visit.drop()

    listener = Listener()
    async with linked(Replaying(), receiver=listener) as (link, server):
        await handshake(link)
        await until(lambda: len(listener.hear) >= 4)
        assert listener.hear == ["n/0", "n/1", "n/2", "n/3"]
        assert [visit.headers.get("last-event-id") for visit in server.seen("GET")] == [None, "0", "1", "2"]


@pytest.mark.parametrize(("status", "location"), [(307, "/elsewhere"), (307, "http://127.0.0.1:1/"), (302, "/mcp")])
async def test_a_redirect_of_a_stream(status: int, location: str) -> None:
    class Moved(Scripted):
        async def get(self, visit: Visit) -> None:
            if visit.path == "/mcp" and "last-event-id" in visit.headers:
                await visit.reply(status, location=location)
            else:
                await super().get(visit)

    async with linked(Moved(say("a", "1"), RESPONSE)) as (link, _):
        await handshake(link)
        if location == "/elsewhere":
            assert await result(link) == "done"
        else:
            with pytest.raises(ConnectionClosed, match="ended the stream before the response"):
                await exchange(link)


# How long is waited.


@pytest.mark.parametrize(
    ("retry", "waits"),
    [
        (None, [1.0, 2.0, 5.0]),
        (0, [0.1, 1.0, 2.0]),
        (500, [0.5, 1.0, 2.0]),
        (3000, [3.0, 3.0, 3.0]),
    ],
)
def test_waits_grow_and_are_never_shorter_than_the_server_asks(
    retry: int | None, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (1.0, 2.0, 5.0))
    monkeypatch.setattr(client_session, "LEAST_SECONDS", 0.1)
    reading = answers.Reading(lambda _: asyncio.sleep(0), retry=retry)
    for failures, least in enumerate(waits):
        made = [client_session._wait(reading, failures) for _ in range(50)]
        assert min(made) >= least
        assert max(made) <= least * (1 + tasks.JITTER)
        assert len(set(made)) > 1


async def test_a_retry_of_zero_counts() -> None:
    async with linked(Scripted(b"retry: 9000\n" + say("a", "1") + b"retry: 0\n\n", RESPONSE)) as (link, _):
        await handshake(link, LATEST_HANDSHAKE)
        assert await result(link) == "done"


async def test_a_quiet_stream_that_lasts_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_session, "STEADY_SECONDS", 0.0)
    server_type = Scripted(say("a", "1"), *[b""] * 20, RESPONSE)
    async with linked(server_type) as (link, _):
        await handshake(link)
        assert await result(link) == "done"
        assert server_type.cursors == ["1"] * 21
