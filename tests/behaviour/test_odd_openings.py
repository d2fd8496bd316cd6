"""Clients of every kind with servers that answer the opening oddly, by stdio and HTTP: the outcome, and what was sent.

`OUTCOMES` is the whole truth: a row per server (`support.odd_openings` says what each does), a column per transport and
client. `D` is a probe that was sent, `I` is `initialize`, `N` is the notification that it is done, `!` a new process;
behind it stands the version agreed on, or the kind of error.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from behaviour.test_pairings import SHORT
from splice import Client, StdioServer
from splice.client import connection
from splice.errors import HeaderMismatch, MCPError, RemoteProtocolError, RequestTimeout, UnsupportedProtocolVersion
from splice.protocol.lifecycle import META_PROTOCOL_VERSION
from support import odd_openings
from support.warm import warm_python
from transports.raw_http import Visit, raw_server

OUTCOMES = """
                                            | stdio                                  | http
                                            | auto            legacy    modern       | auto         legacy   modern
knows no probe                              | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
wants initialize first                      | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
refuses with an odd code                    | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
answers with another shape                  | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
discovers old versions only (Go, stateful)  | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
refuses with old versions only              | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
refuses without a list                      | DIN 11          IN 11     D never      | DIN 11       IN 11    D never
discovers both                              | D 26            IN 11     D 26         | D 26         IN 11    D 26
names the version, then takes it            | DD 26           IN 11     DD 26        | DD 26        IN 11    DD 26
names the version and refuses it            | DD refused      IN 11     DD refused   | DD refused   IN 11    DD refused
discovers later versions only               | D apart         I refused D apart      | D apart      I refused D apart
refuses with later versions only            | D refused       I refused D refused    | D refused    I refused D refused
behind a gateway that changes headers       | D altered       IN 11     D altered    | D altered    IN 11    D altered
is silent                                   | DIN 11          IN 11     D timeout    | D timeout    IN 11    D timeout
exits on the probe                          | D!IN 11         IN 11     D never      |
answers the probe late                      | DIN 11          IN 11     D timeout    |
answers the probe late and is modern        | DID 26          I refused D timeout    |
"""

ERRORS: dict[str, tuple[type[MCPError], str]] = {
    "never": (RemoteProtocolError, "^Cannot come to terms with .*; it wants `initialize`, but protocol= allows 2026"),
    "apart": (RemoteProtocolError, "no common protocol version: the server speaks 2031-01-01; we speak .*2026-07-28"),
    "refused": (UnsupportedProtocolVersion, "Unsupported protocol version"),
    "altered": (HeaderMismatch, "No"),
    "timeout": (RequestTimeout, "did not answer"),
}
LETTERS = {"server/discover": "D", "initialize": "I", "notifications/initialized": "N", "!": "!"}
SECONDS = 5.0


def cells() -> list[tuple[str, str, str, str, str]]:
    """Read the table: transport, peer, client, what is sent, outcome."""
    found = []
    _, heads, *rows = ([part.split() for part in line.split("|")] for line in OUTCOMES.strip("\n").splitlines())
    for name, *halves in rows:
        for transport, clients, half in zip(("stdio", "http"), heads[1:], halves, strict=True):
            for client, sent, outcome in zip(clients, half[::2], half[1::2], strict=bool(half)):
                found.append((transport, " ".join(name), client, sent, outcome))
    return found


async def opening(target: Any, client: str, seconds: float) -> str:
    """Open, call and close; the version agreed on."""
    async with asyncio.timeout(SECONDS), Client(target, protocol=client, timeout=seconds) as opened:
        assert (await opened.call_tool("t")).text == "there"
        return str(opened.protocol_version)


class OverHTTP:
    """A peer behind a URL: errors come with status 400, and silence lasts."""

    def __init__(self, name: str) -> None:
        self._peer = odd_openings.Opened(name)
        self.visits: list[Visit] = []

    async def __call__(self, visit: Visit) -> None:
        if visit.method != "POST":
            await visit.reply(405)
            return
        self.visits.append(visit)
        replies = self._peer.replies(visit.message)
        for reply in replies or ():
            await visit.json(reply, 400 if "error" in reply else 200)
        if "id" not in visit.message:
            await visit.reply(202)


def is_clean(initialize: Any, headers: dict[str, str]) -> bool:
    """Tell whether nothing of a probe is left over in `initialize`."""
    left = {"mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"} & headers.keys()
    return not left and META_PROTOCOL_VERSION not in json.dumps(initialize)


@pytest.mark.requirement(5, 66, 75, 78, 82)
@pytest.mark.parametrize(("transport", "name", "client", "sent", "outcome"), cells())
async def test_they_come_to_terms_or_say_why_not(
    transport: str, name: str, client: str, sent: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = "silent" in name or "late" in name
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.3 if slow else SECONDS)
    seconds = 0.4 if outcome == "timeout" else SECONDS
    over_http, log = OverHTTP(name), tmp_path / "log"
    async with raw_server(over_http) as server:
        program = StdioServer(warm_python(), str(Path(odd_openings.__file__)), name, str(log))
        target = server.url if transport == "http" else program
        if outcome in SHORT:
            assert await opening(target, client, seconds) == SHORT[outcome]
        else:
            expected, words = ERRORS[outcome]
            with pytest.raises(expected, match=words):
                await opening(target, client, seconds)
    if transport == "http":
        messages = [(visit.message, visit.headers) for visit in over_http.visits]
    else:
        first, *lines = log.read_text(encoding="utf-8").splitlines()
        assert first == "started"
        messages = [({"method": "!"} if line == "started" else json.loads(line), {}) for line in lines]
    methods = [message["method"] for message, _ in messages]
    assert "".join(LETTERS[each] for each in methods if each in LETTERS) == sent
    ids = [message["id"] for message, _ in messages if "id" in message]
    assert len(set(ids)) == len(ids)
    for message, headers in messages:
        if message["method"] == "initialize":
            assert is_clean(message, headers)
            assert message["params"]["protocolVersion"] == SHORT["11"]
