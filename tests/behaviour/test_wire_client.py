"""Our client on the wire: what a server without any code of ours receives, and what the client makes of its answers."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from client import scripted
from client.scripted import ScriptedTarget, initialize, returning
from splice import Client, StdioServer
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN
from splice.transports.http import client_session
from transports.raw_http import Visit, raw_server, until

DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}], "resultType": "complete"}
META = "io.modelcontextprotocol/"
ERAS = {"legacy": LATEST_HANDSHAKE, "modern": LATEST_MODERN}

both = pytest.mark.parametrize("era", ERAS)


# Opening.


@pytest.mark.requirement(76, 77, 78, 79, 82)
async def test_nothing_is_said_between_initialize_and_its_answer() -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def opening(message: Any, link: Any) -> Any:
        asked.set()
        await answer.wait()
        return await initialize(message, link)

    target = ScriptedTarget(initialize=opening, tools__call=returning(DONE))
    client = Client(target, protocol="legacy", on_log=print, roots=["file:///a"])
    starting = asyncio.create_task(client.open())
    await asked.wait()
    (first,) = target.sent
    assert first["params"]["protocolVersion"] == LATEST_HANDSHAKE
    assert first["params"]["clientInfo"]["name"]
    assert set(first["params"]["capabilities"]) == {"roots"}
    answer.set()
    await starting
    await client.call_tool("t")
    assert [each["method"] for each in target.sent[:2]] == ["initialize", "notifications/initialized"]
    assert target.sent[-1]["method"] == "tools/call"
    await client.close()


CHILD = """
import json, sys
log = open(sys.argv[1], "a", encoding="utf-8")
results = {
    "server/discover": {"supportedVersions": [sys.argv[2]], "capabilities": {"tools": {}}, "resultType": "complete"},
    "initialize": {"protocolVersion": sys.argv[2], "capabilities": {"tools": {}},
                   "serverInfo": {"name": "c", "version": "1"}},
    "tools/list": {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
    "tools/call": {"content": [], "resultType": "complete"},
    "ping": {},
}
for line in sys.stdin:
    log.write(line)
    log.flush()
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
log.write("end of input")
"""


@both
@pytest.mark.requirement(2, 3, 4, 89, 95, 103, 110)
async def test_a_child_reads_messages_and_then_the_end(era: str, tmp_path: Path) -> None:
    """It is given the time to leave by itself: nothing else writes the last line of the log."""
    log = tmp_path / "log"
    target = StdioServer(sys.executable, "-c", CHILD, str(log), ERAS[era])
    async with Client(target, protocol=era, timeout=5.0) as client:
        await client.list_tools()
        await asyncio.gather(*(client.call_tool("t", {"text": "\u2028\n\r\x85 é"}) for _ in range(20)))
        await client.ping()
    *lines, end = log.read_text(encoding="utf-8").split("\n")
    assert end == "end of input"
    messages = [json.loads(line) for line in lines]
    assert {message["jsonrpc"] for message in messages} == {"2.0"}
    ids = [message["id"] for message in messages if "id" in message]
    assert len(set(ids)) == len(ids)
    assert {type(id) for id in ids} <= {int, str}
    assert len([each for each in messages if each["method"] == "tools/call"]) == 20


RUDE = """
import json, sys
log = open(sys.argv[1], "a", encoding="utf-8")
key = "io.modelcontextprotocol/subscriptionId"
info = {"supportedVersions": [sys.argv[2]], "capabilities": {"tools": {}, "resources": {"subscribe": True}}}
info["protocolVersion"], info["serverInfo"] = sys.argv[2], {"name": "rude", "version": "1"}
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def updated(subscription):
    meta = {} if subscription is None else {"_meta": {key: subscription}}
    say(method="notifications/resources/updated", params={"uri": f"x://{subscription}", **meta})
for line in sys.stdin:
    log.write(line)
    log.flush()
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "subscriptions/listen":
        wanted = message["params"]["notifications"]
        say(method="notifications/subscriptions/acknowledged", params={"_meta": {key: id}, "notifications": wanted})
        for subscription in ("foreign", None, 12345, id):
            updated(subscription)
    elif method == "tools/call":
        say(id="theirs", method="ping")
        say(id="theirs too", method="elicitation/create", params={"message": "?", "requestedSchema": {}})
        say(id=id, result={"content": [], "resultType": "complete"})
    elif id is not None:
        say(id=id, result=info)
"""


@pytest.mark.requirement(96, 104)
async def test_a_modern_server_that_asks_over_a_pipe_gets_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    target = StdioServer(sys.executable, "-c", RUDE, str(tmp_path / "log"), LATEST_MODERN)
    async with Client(target, on_elicit=lambda _: {}, timeout=5.0) as client:
        await client.call_tool("t")
        await client.call_tool("t")
    messages = [json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    assert [each["method"] for each in messages] == ["server/discover", "tools/call", "tools/call"]
    assert "ignored its request 'ping': servers of this version send none" in caplog.text


@pytest.mark.requirement(105, 237)
async def test_only_what_bears_the_id_of_a_subscription_is_heard(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Any] = []
    target = StdioServer(sys.executable, "-c", RUDE, str(tmp_path / "log"), LATEST_MODERN)
    async with Client(target, on_change=heard.append, timeout=5.0) as client:
        await client.subscribe("x://a")
        await client.call_tool("t")
    (listening,) = [
        json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines() if "listen" in line
    ]
    assert [each.uri for each in heard] == [f"x://{listening['id']}"]
    assert caplog.text.count("belongs to no subscription") == 3


# HTTP.


class Recorded:
    """A server of either era that answers every call, and remembers each request in the order of arrival."""

    def __init__(self, era: str) -> None:
        self.version = ERAS[era]

    async def __call__(self, visit: Visit) -> None:
        message = visit.message
        if visit.method != "POST":
            await visit.reply(405 if visit.method == "GET" else 200)
        elif "id" not in message:
            await visit.reply(202)
        elif message["method"] == "server/discover":
            await visit.result({"supportedVersions": [self.version], "capabilities": {"tools": {}}})
        elif message["method"] == "initialize":
            result = await initialize(message, None)  # type: ignore[arg-type]  # it does not look at the link
            await visit.result(result, mcp_session_id="the-session")
        elif message["method"] == "tools/list":
            await visit.result({"tools": [], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"})
        else:
            await visit.result(DONE)


@both
@pytest.mark.requirement(36, 37, 38, 120, 121, 122, 205)
async def test_every_message_is_a_post_of_its_own(era: str) -> None:
    async with raw_server(Recorded(era)) as server:
        async with Client(server.url, protocol=era, timeout=5.0) as client:
            await asyncio.gather(*(client.call_tool("t") for _ in range(10)))
        posts = [visit for visit in server.visits if visit.method == "POST"]
        assert all(isinstance(visit.message, dict) and visit.message["jsonrpc"] == "2.0" for visit in posts)
        assert len([visit for visit in posts if visit.message["method"] == "tools/call"]) == 10
        ids = [visit.message["id"] for visit in posts if "id" in visit.message]
        assert len(set(ids)) == len(ids)
        for visit in posts:
            assert {"application/json", "text/event-stream"} <= {
                each.strip() for each in visit.headers["accept"].split(",")
            }
        if FACTS[ERAS[era]].request_meta:
            for visit in posts:
                said = visit.message["params"]["_meta"]
                assert said[META + "protocolVersion"] == visit.headers["mcp-protocol-version"] == LATEST_MODERN
                assert isinstance(said[META + "clientCapabilities"], dict)
                assert said[META + "clientInfo"]["name"]
        else:
            (left,) = server.seen("DELETE")
            assert left.headers["mcp-session-id"] == "the-session"


@pytest.mark.requirement(183)
async def test_a_stream_is_resumed_when_the_server_wants_it_and_no_earlier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_session, "RECONNECT_SECONDS", (0.0, 0.0))
    broken: list[float] = []
    resumed: list[float] = []
    clock = asyncio.get_running_loop().time

    class Breaking(Recorded):
        async def __call__(self, visit: Visit) -> None:
            if visit.method == "POST" and visit.message["method"] == "tools/call":
                await visit.begin_stream()
                await visit.chunk(b"id: a\nretry: 300\ndata:\n\n")
                broken.append(clock())
                visit.drop()
            elif visit.headers.get("last-event-id") == "a":
                resumed.append(clock())
                (call,) = server.seen("tools/call")
                await visit.begin_stream()
                await visit.event({"id": call.message["id"], "result": DONE})
            else:
                await super().__call__(visit)

    async with raw_server(Breaking("legacy")) as server, Client(server.url, protocol="legacy", timeout=5.0) as client:
        assert (await client.call_tool("t")).text == "done"
    assert resumed[0] - broken[0] >= 0.29


# Questions.

STATE = ' {"not": "for you"} \u2028\x00 %s \\u0000 é' + "=" * 200


@pytest.mark.requirement(211, 223, 224, 225, 227)
async def test_a_retry_brings_all_answers_the_state_as_it_was_and_a_new_id() -> None:
    sent: list[Any] = []
    form = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    questions = {
        "a b": {"method": "elicitation/create", "params": form},
        "": {"method": "roots/list"},
        "é": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
    }

    async def call(message: Any, link: Any) -> Any:
        sent.append(message)
        if len(sent) == 1:
            return {"resultType": "input_required", "inputRequests": questions, "requestState": STATE}
        return DONE

    target = scripted.modern(tools__call=call)
    async with Client(
        target, on_elicit=lambda _: {}, on_sample=lambda _: "s", roots=["file:///r"], timeout=5.0, protocol="modern"
    ) as client:
        assert (await client.call_tool("t", {"x": [1, 2]}, meta={"com.example/tenant": "acme"})).text == "done"
    first, second = (message["params"] for message in sent)
    assert sent[0]["id"] != sent[1]["id"]
    assert second["requestState"] == STATE
    assert set(second["inputResponses"]) == set(questions)
    assert second["_meta"] == first["_meta"]
    assert first["_meta"]["com.example/tenant"] == "acme"
    assert {META + "protocolVersion", META + "clientCapabilities"} <= set(second["_meta"])
    assert (second["name"], second["arguments"]) == (first["name"], first["arguments"]) == ("t", {"x": [1, 2]})


@pytest.mark.requirement(363)
async def test_the_model_is_told_how_much_it_may_say() -> None:
    asked: list[int] = []

    async def call(message: Any, link: scripted.ScriptedLink) -> Any:
        params = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 17}
        await link.ask("sampling/createMessage", params)
        return DONE

    def on_sample(params: Any) -> str:
        asked.append(params.max_tokens)
        return "s"

    async with Client(scripted.legacy(tools__call=call), on_sample=on_sample, protocol="legacy") as client:
        await client.call_tool("t")
    assert asked == [17]


@pytest.mark.requirement(385)
@pytest.mark.parametrize("params", [{"elicitationId": "unheard-of"}, {"elicitationId": 5}, {}, []], ids=str)
async def test_the_end_of_a_question_nobody_knows_of_is_ignored(params: Any) -> None:
    target = scripted.legacy(tools__call=returning(DONE))
    async with Client(target, on_elicit=lambda _: {}, protocol="legacy", timeout=5.0) as client:
        await target.link.tell_all("notifications/elicitation/complete", params)
        assert (await client.call_tool("t")).text == "done"
        await until(lambda: len(target.calls("tools/call")) == 1)


@pytest.mark.requirement(411)
@pytest.mark.parametrize("content", [{"n": "not an int"}, {}, {"n": 1, "extra": 1}], ids=str)
async def test_a_form_that_was_filled_in_wrongly_is_not_sent(content: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    answers: list[Any] = []

    async def call(message: Any, link: scripted.ScriptedLink) -> Any:
        answers.append(await link.ask("elicitation/create", {"message": "?", "requestedSchema": schema}))
        return DONE

    async with Client(scripted.legacy(tools__call=call), on_elicit=lambda _: content, protocol="legacy") as client:
        await client.call_tool("t")
    assert "failed" in answers[0].error.message
