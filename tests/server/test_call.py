"""A call: what an extension's answer, middleware and chapters are given for each request."""

import json
from typing import Any

import msgspec
import pytest

from splice import Ask, Context, InputRequired, Server
from splice.errors import MissingClientCapability
from splice.protocol.jsonrpc import Notification
from splice.protocol.methods import Method, Note
from splice.protocol.questions import ROOTS_LIST
from splice.protocol.versions import FACTS, V2025_11_25, VERSIONS
from splice.protocol.wire import NoParams, NoteParams, Params, Result, Wire
from splice.rules.extensions import Extension, Heard, Served
from splice.server.call import Call
from splice.transports.base import Sender
from support.caller import LEGACY, MODERN, Caller
from support.wire import JSON, meta


class WeatherParams(Params, kw_only=True):
    city: str
    input_responses: dict[str, msgspec.Raw] | None = None
    request_state: str | None = None


class WeatherResult(Result, kw_only=True):
    degrees: int


class Forecast(Wire, tag_field="resultType", tag="example.forecast", kw_only=True):
    """A result of another kind."""

    ticket: str


class ThunderParams(NoteParams, kw_only=True):
    where: str


class Coordinates(Wire, kw_only=True):
    north: float


WEATHER = Method(name="example/weather", params=WeatherParams, result=WeatherResult, may_ask=True)
THUNDER = Note(name="notifications/example/thunder", params=ThunderParams)
LATER = Note(name="notifications/example/later", params=ThunderParams, until=V2025_11_25)
WHERE = Method(name="example/where", params=NoParams, result=Coordinates)


class Weather(Extension[Call]):
    """An extension as a user writes it: a method, notifications both ways, a result of its own."""

    def __init__(self) -> None:
        super().__init__(
            "com.example/weather",
            settings={"units": "C"},
            methods=[Served(WEATHER, self.answer)],
            notes=[Heard(THUNDER, self.hear)],
        )
        self.heard: list[str] = []
        self.calls: list[Call] = []

    async def answer(self, call: Call) -> WeatherResult | Forecast:
        self.calls.append(call)
        city = call.params.city
        if city == "tomorrow":
            return Forecast(ticket="t1")
        await call.notify(THUNDER, ThunderParams(where=city))
        await call.notify(LATER, ThunderParams(where=city))
        if city == "here":
            return WeatherResult(degrees=round((await call.ask(WHERE, NoParams())).north))
        return WeatherResult(degrees=len(city))

    async def hear(self, params: ThunderParams) -> None:
        if params.where == "nowhere":
            raise ValueError("nowhere")
        self.heard.append(params.where)


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_extension_is_declared_and_answers_a_method_of_its_own(version: str) -> None:
    weather = Weather()
    caller = await Caller(Server("s", extensions=[weather]), version).open()
    assert caller.server.service.home.capabilities().extensions == {"com.example/weather": {"units": "C"}}
    result = await caller.result("example/weather", {"city": "Oslo"})
    assert result["degrees"] == 4
    assert ("resultType" in result) == (version in MODERN)
    methods = [each["method"] for each in caller.notes]
    assert methods == [THUNDER.name, *([LATER.name] if version in LEGACY else [])]
    assert (await caller.error("example/weather", {}))["code"] == -32602
    (call,) = weather.calls
    assert call.facts is FACTS[version]
    assert call.row is WEATHER
    assert call.sender.kind == "memory"
    assert call.session is caller.session


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_result_of_another_kind_passes_as_it_is(version: str) -> None:
    caller = await Caller(Server("s", extensions=[Weather()]), version).open()
    result = await caller.result("example/weather", {"city": "tomorrow"})
    assert (result["resultType"], result["ticket"]) == ("example.forecast", "t1")


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_extension_may_ask_by_a_method_of_its_own(version: str) -> None:
    caller = Caller(Server("s", extensions=[Weather()]), version, answers=lambda _m, _p: {"north": 59.9})
    await caller.open()
    assert (await caller.result("example/weather", {"city": "here"}))["degrees"] == 60
    assert caller.asked == [("example/where", {})]


async def test_an_extension_hears_notifications_and_a_failing_one_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    weather = Weather()
    service, sender = Server("s", extensions=[weather]).service, Sender(kind="memory")
    for params in ({"where": "Oslo"}, {"where": 1}, None, {"where": "nowhere"}, {"where": "Rome"}):
        raw = None if params is None else msgspec.Raw(json.dumps(params).encode())
        await service.hear(Notification(THUNDER.name, raw), sender)
    assert weather.heard == ["Oslo", "Rome"]
    assert caplog.text.count(f"the listener for {THUNDER.name} failed") == 3


async def test_a_later_extension_replaces_a_method_of_the_core() -> None:
    async def nothing(call: Call) -> Any:
        return msgspec.Raw(b'{"content":[],"replaced":true}')

    from splice.protocol.tools import TOOLS_CALL

    server = Server("s", extensions=[Extension("com.example/x", methods=[Served(TOOLS_CALL, nothing)])])
    assert (await (await Caller(server).open()).result("tools/call", {"name": "t"}))["replaced"] is True


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_handler_sees_the_whole_meta_and_may_send_and_ask_for_an_extension(version: str) -> None:
    seen: list[JSON] = []
    server = Server("s")

    @server.tool
    async def tool(ctx: Context) -> str:
        seen.append(ctx.meta)
        await ctx.notify(THUNDER, ThunderParams(where="Oslo"))
        return str((await ctx.ask(Ask.method(WHERE, NoParams(), key="where"))).north)

    caller = await Caller(server, version, answers=lambda _m, _p: {"north": 1.5}).open()
    said = meta(capabilities=caller.can) if caller.modern else {}
    said |= {"com.example/tenant": {"id": "acme"}, "progressToken": 7}
    response = await caller.send("tools/call", {"name": "tool", "_meta": said})
    assert seen == [said]
    assert caller.notes[0]["params"] == {"where": "Oslo"}
    if caller.modern:
        question = response["result"]["inputRequests"]["where"]
        assert question["method"] == "example/where"
    else:
        assert response["result"]["content"][0]["text"] == "1.5"
    seen.clear()
    if not caller.modern:
        await caller.call("tool")
        assert seen == [{}]


@pytest.mark.parametrize("version", VERSIONS)
async def test_what_the_client_cannot_answer_is_not_asked(version: str) -> None:
    errors: list[MissingClientCapability] = []

    async def middleware(call: Call, proceed: Any) -> Any:
        if call.row.name == "tools/list":
            try:
                await call.ask(ROOTS_LIST, NoParams())
            except MissingClientCapability as error:
                errors.append(error)
        return await proceed(call)

    server = Server("s", middleware=[middleware])
    server.add_tool(lambda: "", name="t")
    caller = await Caller(server, version, can={}).open()
    await caller.result("tools/list")
    assert [error.data for error in errors] == [{"requiredCapabilities": {"roots": {}}}]


@pytest.mark.parametrize("version", VERSIONS)
async def test_questions_cannot_be_returned_where_none_may_be_asked(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def middleware(call: Call, proceed: Any) -> Any:
        return InputRequired({"r": None}) if call.row.name == "tools/list" else await proceed(call)

    caller = await Caller(Server("s", middleware=[middleware]), version).open()
    error = await caller.error("tools/list")
    assert error["code"] == -32603
    assert error["message"].startswith("tools/list failed: LocalProtocolError (reference ")
    assert "Nothing can be asked while tools/list is answered" in caplog.text
    assert caller.asked == []
