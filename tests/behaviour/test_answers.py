"""What a client answers, with servers that are scripted and real, in every version that has the question."""

import asyncio
import json
from typing import Any

import pytest

from client import scripted
from client.scripted import DONE, raising
from splice import Client, LocalProtocolError, MissingClientCapability, RPCError, Server
from splice.errors import URLElicitationRequired
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN, VERSIONS
from splice.types import ElicitParams, ElicitResult

ERAS = {"legacy": scripted.legacy, "modern": scripted.modern}
eras = pytest.mark.parametrize("era", ERAS)


def asking(method: str, params: Any, answers: list[Any]) -> Any:
    """Ask within a call, as a server of either era does, and keep the answer or the error."""

    async def call(message: Any, link: scripted.ScriptedLink) -> Any:
        if "initialize" in link.story:
            response = await link.ask(method, params)
            answers.append(response.error if hasattr(response, "error") else json.loads(bytes(response.result)))
        elif "inputResponses" not in message["params"]:
            return {"resultType": "input_required", "inputRequests": {"q": {"method": method, "params": params}}}
        else:
            answers.append(message["params"]["inputResponses"]["q"])
        return DONE

    return call


def form(**fields: Any) -> Any:
    return {"message": "?", "requestedSchema": {"type": "object", "properties": fields, "required": list(fields)[:1]}}


KINDS = {
    "name": {"type": "string", "minLength": 2},
    "mail": {"type": "string", "format": "email"},
    "age": {"type": "integer", "minimum": 0, "default": 30},
    "price": {"type": "number"},
    "sure": {"type": "boolean", "default": False},
    "size": {"type": "string", "enum": ["s", "m"], "default": "m"},
    "colour": {"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 1},
    "days": {"type": "array", "items": {"anyOf": [{"const": "mo", "title": "Monday"}]}, "default": ["mo"]},
}


@eras
@pytest.mark.requirement(380, 411)
async def test_all_kinds_of_fields_and_their_defaults(era: str) -> None:
    answers: list[Any] = []
    target = ERAS[era](tools__call=asking("elicitation/create", form(**KINDS), answers))
    filled = {"name": "Ann", "mail": "a@b.example", "price": 1.5, "colour": "#0f0", "tags": ["b"]}
    async with asyncio.timeout(5), Client(target, protocol=era, on_elicit=lambda _: filled) as client:
        await client.call_tool("t")
    defaults = {"age": 30, "sure": False, "size": "m", "days": ["mo"]}
    assert answers == [{"action": "accept", "content": filled | defaults}]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"name": "A"}, "name: it is shorter than 2"),
    ({}, "name: required, but missing"),
    ({"name": 5}, "name: expected string, got 5"),
    ({"name": "Ann", "mail": "x"}, "mail: expected email"),
    ({"name": "Ann", "age": -1}, "age: it is less than the minimum of 0"),
    ({"name": "Ann", "size": "xl"}, 'size: expected one of "s", "m", got "xl"'),
    ({"name": "Ann", "colour": "Red"}, 'colour: expected one of "#f00", "#0f0", got "Red"'),
    ({"name": "Ann", "tags": ["a", "b"]}, "tags: it has more than 1 item"),
    ({"name": "Ann", "nmae": "x"}, "nmae: unknown name; known are: name, mail"),
]


@eras
@pytest.mark.requirement(411)
@pytest.mark.parametrize(("filled", "said"), WRONG, ids=lambda it: str(it)[:40])
async def test_what_does_not_fit_is_told_where_the_user_sees_it(
    era: str, filled: dict[str, Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[Any] = []
    target = ERAS[era](tools__call=asking("elicitation/create", form(**KINDS), answers))
    async with asyncio.timeout(5), Client(target, protocol=era, on_elicit=lambda _: filled) as client:
        if era == "modern":
            with pytest.raises(LocalProtocolError) as caught:
                await client.call_tool("t")
            assert f"on_elicit filled in what the form does not take: {said}" in str(caught.value)
        else:
            await client.call_tool("t")
            assert (answers[0].code, said in answers[0].message) == (
                -32603,
                False,
            )  # the server reads no more than that
            assert said in caplog.text


@eras
@pytest.mark.parametrize(
    "field", [{"type": "object", "properties": {}}, {"type": "string", "pattern": "("}, 5], ids=str
)
async def test_a_hostile_form_is_not_shown(era: str, field: Any) -> None:
    answers: list[Any] = []
    asked: list[ElicitParams] = []
    target = ERAS[era](tools__call=asking("elicitation/create", form(f=field), answers))
    async with asyncio.timeout(5), Client(target, protocol=era, on_elicit=asked.append) as client:
        if era == "modern":
            with pytest.raises(LocalProtocolError, match="the form cannot be used: "):
                await client.call_tool("t")
        else:
            await client.call_tool("t")
            assert answers[0].code == -32602
    assert asked == []


# URLs that are required first.

VISIT = {"mode": "url", "message": "Sign in", "url": "https://a.example/in", "elicitationId": "1"}


def required(*visits: Any) -> RPCError:
    return RPCError("Sign in first", {"elicitations": list(visits)}, code=-32042)


@pytest.mark.requirement(385, 388)
async def test_a_call_that_needs_a_visit_can_be_made_again_after_it() -> None:
    done = asyncio.Event()
    told: list[ElicitParams] = []

    def on_elicit_complete(question: ElicitParams) -> None:
        told.append(question)
        done.set()

    async def call(message: Any, link: scripted.ScriptedLink) -> Any:
        if not done.is_set():
            raise required(VISIT)
        return DONE

    options: Any = {"on_elicit": lambda _: "accept", "can": ["elicitation.url"]}
    target = scripted.legacy(tools__call=call)
    async with (
        asyncio.timeout(5),
        Client(target, protocol="legacy", on_elicit_complete=on_elicit_complete, **options) as client,
    ):
        with pytest.raises(URLElicitationRequired, match="Sign in first") as caught:
            await client.call_tool("t")
        (visit,) = caught.value.elicitations
        assert (visit.url, visit.message, visit.elicitation_id) == ("https://a.example/in", "Sign in", "1")
        await target.link.tell_all("notifications/elicitation/complete", {"elicitationId": "1"})
        await done.wait()
        assert (await client.call_tool("t")).text == "done"
    assert told == [visit]


@pytest.mark.parametrize(
    "data",
    [
        None,
        5,
        {},
        {"elicitations": 5},
        {"elicitations": [5]},
        {"elicitations": [{**VISIT, "url": "javascript:alert(1)"}]},
        {"elicitations": [VISIT, {**VISIT, "url": None}]},
        {"elicitations": [{"message": "?", "requestedSchema": {}}]},
    ],
    ids=str,
)
async def test_visits_that_are_none_are_not_offered(data: Any) -> None:
    target = scripted.legacy(tools__call=raising(RPCError("no", data, code=-32042)))
    async with asyncio.timeout(5), Client(target, protocol="legacy") as client:
        with pytest.raises(URLElicitationRequired, match=r"^no$") as caught:
            await client.call_tool("t")
    assert list(caught.value.elicitations) == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.requirement(21, 388)
async def test_a_server_that_needs_a_visit_says_so_in_the_words_of_the_version(version: str) -> None:
    server = Server("s")

    @server.tool
    async def fetch() -> None:
        raise URLElicitationRequired("Sign in first", {"elicitations": [VISIT]})

    async with asyncio.timeout(5), Client(server, protocol=version) as client:
        with pytest.raises(RPCError, match="Sign in first") as caught:
            await client.call_tool("fetch")
    has_code = FACTS[version].code_of(-32042) == -32042
    assert caught.value.code == (-32042 if has_code else -32600)
    assert [visit.url for visit in getattr(caught.value, "elicitations", ())] == ["https://a.example/in"] * has_code


# What is declared, and what a server misses.


@pytest.mark.parametrize(
    ("lacks", "options", "advice"),
    [
        ({"elicitation": {"url": {}}}, {}, "; pass on_elicit= to Client"),
        ({"elicitation": {"url": {}}}, {"on_elicit": lambda _: None}, "; pass can=['elicitation.url'] to Client"),
        ({"elicitation": {"url": {}}}, {"on_elicit": lambda _: None, "can": ["elicitation.url"]}, ""),
        ({"sampling": {"tools": {}}}, {"on_sample": lambda _: None}, "; pass can=['sampling.tools'] to Client"),
        ({"sampling": {"context": {}}}, {"on_sample": lambda _: None}, "; pass can=['sampling.context'] to Client"),
        ({"sampling": 5, "elicitation": {}}, {}, ""),
    ],
    ids=["nothing", "forms", "all", "tools", "context", "odd"],
)
async def test_a_server_that_misses_a_part_of_a_capability(lacks: Any, options: Any, advice: str) -> None:
    error = MissingClientCapability("no", {"requiredCapabilities": lacks})
    async with asyncio.timeout(5), Client(scripted.modern(tools__call=raising(error)), **options) as client:
        with pytest.raises(MissingClientCapability) as caught:
            await client.call_tool("t")
    assert str(caught.value) == f"no{advice}"


@pytest.mark.requirement(354, 375)
@pytest.mark.parametrize("version", [LATEST_HANDSHAKE, LATEST_MODERN])
async def test_parts_of_capabilities_are_declared_to_servers(version: str) -> None:
    functions: Any = {"on_elicit": lambda _: ElicitResult(action="decline"), "on_sample": lambda _: None}
    target = (scripted.modern if version == LATEST_MODERN else scripted.legacy)()
    async with Client(target, protocol=version, can={"sampling.tools", "elicitation.url"}, **functions):
        params = target.sent[0]["params"]
    declared = params.get("capabilities") or params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert declared == {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}}
