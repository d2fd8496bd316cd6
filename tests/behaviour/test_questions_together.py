"""Several questions of one call on the wire: raw JSON from a client without any code of ours, in both eras."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from splice import Client, Context, Extension, Heard, Server
from splice.protocol.questions import ELICITATION_COMPLETE
from splice.protocol.versions import FACTS
from splice.types import VERSIONS, ElicitParams
from support import behaving_server
from support.caller import ASKING, LEGACY
from support.listening import listening
from support.program import Program, program
from support.raw_client import wired
from support.waiting import until
from support.warm import warm_python
from support.wire import JSON, answer, call, modern

CAN: JSON = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
GIVEN: dict[str, JSON] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "hm"}, "model": "m"},
    "roots/list": {"roots": [{"uri": "file:///a"}]},
}
TEXT = "Ada hm file:///a"
ASKS = [version for version in ASKING if version in LEGACY]


async def three(process: Program, version: str) -> dict[str, JSON]:
    """Open a session, and call what asks three things; the questions by method, none of which is answered yet."""
    await process.open(version, capabilities=CAN)
    await process.send(call(1, "together"))
    messages = [await process.receive() for _ in range(3)]
    return {each["method"]: each["id"] for each in messages}


@pytest.mark.parametrize("version", ASKS)
async def test_a_legacy_client_is_asked_side_by_side_and_answers_in_any_order(version: str) -> None:
    async with program(behaving_server.__file__, python=warm_python()) as process:
        asked = await three(process, version)
        assert asked.keys() == GIVEN.keys()
        for method in reversed(asked):
            await process.send(answer(asked[method], GIVEN[method]))
        response = await process.response(1)
    assert response["result"]["content"][0]["text"] == TEXT
    assert process.others == []


@pytest.mark.parametrize("version", ASKS)
@pytest.mark.parametrize("failing", GIVEN)
async def test_an_error_for_one_withdraws_the_others_and_reaches_the_handler(version: str, failing: str) -> None:
    """What comes for them afterwards is ignored, and the session goes on."""
    async with program(behaving_server.__file__, python=warm_python()) as process:
        asked = await three(process, version)
        refused = {"jsonrpc": "2.0", "id": asked[failing], "error": {"code": -1, "message": "not now"}}
        await process.send(refused)
        error = (await process.response(1))["error"]
        assert (error["code"], error["message"]) == (-1, "not now")
        others = {method: id for method, id in asked.items() if method != failing}
        assert {each["method"] for each in process.others} == {"notifications/cancelled"}
        assert sorted(each["params"]["requestId"] for each in process.others) == sorted(others.values())
        await process.send(*[answer(id, GIVEN[method]) for method, id in others.items()])
        assert (await process.request(call(2, "echo", {"text": "on"})))["result"]["content"][0]["text"] == "on"


@pytest.mark.parametrize("kind", ["stdio", "http"])
@pytest.mark.requirement(210, 213, 214, 231, 232)
async def test_a_modern_client_is_asked_in_one_result_and_again_for_what_it_leaves_out(kind: str) -> None:
    async with wired(kind) as wire:
        retry: JSON = {"name": "together"}
        answers: JSON = {"nobody": {"action": "accept", "content": {}}}
        for number, left in enumerate((3, 2, 1), 1):
            result = (await wire.ask(modern(number, "tools/call", retry, capabilities=CAN)))["result"]
            assert result["resultType"] == "input_required"
            assert len(result["inputRequests"]) == left
            key, question = list(result["inputRequests"].items())[-1]
            answers = {"nobody": {}, key: GIVEN[question["method"]]}
            retry |= {"requestState": result["requestState"], "inputResponses": answers}
        result = (await wire.ask(modern(4, "tools/call", retry, capabilities=CAN)))["result"]
        assert result["content"][0]["text"] == TEXT
        assert wire.told == []


URLS = [version for version in VERSIONS if FACTS[version].url_elicitation]


async def _accept(_: ElicitParams) -> str:
    return "accept"


def hearing(heard: list[str]) -> Extension[Any]:
    def hear(params: Any) -> None:
        heard.append(params.elicitation_id)

    return Extension("com.example/hearing", notes=[Heard(ELICITATION_COMPLETE, hear)])


@pytest.mark.requirement(384)
@pytest.mark.parametrize("version", URLS)
async def test_a_callback_in_another_request_is_told_to_the_session_that_it_is_about(version: str) -> None:
    """The page behind the link is a route of the same HTTP server; what asked is long answered."""
    server = Server("s")

    @server.tool
    async def connect(id: str, ctx: Context) -> str:
        return (await ctx.elicit_url("Sign in", f"https://example.com/?id={id}", id=id)).action

    heard: dict[str, list[str]] = {"ada": [], "eve": []}
    options: dict[str, Any] = {"protocol": version, "timeout": 5.0, "on_elicit": _accept, "can": ["elicitation.url"]}
    async with (
        listening(server.http_app()) as url,
        Client(url, extensions=[hearing(heard["ada"])], **options) as ada,
        Client(url, extensions=[hearing(heard["eve"])], **options) as eve,
    ):
        calls: list[Callable[[], Awaitable[Any]]] = [
            lambda: ada.call_tool("connect", {"id": "a"}),
            lambda: eve.call_tool("connect", {"id": "e"}),
        ]
        assert [(await each()).text for each in calls] == ["accept", "accept"]
        server.publish((ELICITATION_COMPLETE.name, "a"))
        server.publish((ELICITATION_COMPLETE.name, "nobody"))
        if ELICITATION_COMPLETE.exists(version):
            await until(lambda: heard["ada"])
            server.publish((ELICITATION_COMPLETE.name, "e"))
            await until(lambda: heard["eve"])
            assert heard == {"ada": ["a"], "eve": ["e"]}
        else:
            await asyncio.gather(ada.ping(), eve.ping())
            assert heard == {"ada": [], "eve": []}
