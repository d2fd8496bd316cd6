"""The tools of the everything server that ask: what crosses the wire, in both eras."""

import json
from typing import Any

import pytest

from servers.test_everything import opened
from splice.servers.everything.forms import FIELDS
from splice.servers.everything.server import make
from support.caller import CANCEL, DECLINE, Caller, accept, fixed, said, text_of
from support.wire import JSON

ERAS = ["legacy", "modern"]
FILLED: JSON = {
    "name": "Ann",
    "check": True,
    "firstLine": "Call me Ishmael.",
    "email": "ann@example.com",
    "homepage": "https://ann.example",
    "birthdate": "1990-02-03",
    "integer": 7,
    "number": 2.5,
    "untitledSingleSelectEnum": "Ross",
    "untitledMultipleSelectEnum": ["Piano", "Bass"],
    "titledSingleSelectEnum": "hero-2",
    "titledMultipleSelectEnum": ["fish-3"],
    "legacyTitledEnum": "pet-4",
}
USE: JSON = {
    "role": "assistant",
    "model": "m",
    "stopReason": "toolUse",
    "content": [{"type": "tool_use", "id": "1", "name": "get-sum", "input": {"a": 20, "b": 22}}],
}
LINK: JSON = {"url": "https://example.com/pay?id=7"}


async def asking(era: str, *answers: JSON, **more: Any) -> Caller:
    caller = await opened(era, **more)
    caller._answers = fixed(*answers)
    return caller


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (accept(**FILLED), "Agreed to terms: true\n- Favorite first line: Call me Ishmael."),
        (DECLINE, "❌ User declined to provide the requested information."),
        (CANCEL, "⚠️ User cancelled the elicitation dialog."),
    ],
    ids=["accept", "decline", "cancel"],
)
async def test_a_form_with_every_kind_of_field(era: str, answer: JSON, told: str) -> None:
    caller = await asking(era, answer)
    result = await caller.call("trigger-elicitation-request")
    ((method, params),) = caller.asked
    assert (method, list(params["requestedSchema"]["properties"])) == ("elicitation/create", list(FIELDS))
    assert told in text_of(result)
    raw = result["content"][-1]["text"].removeprefix("\nRaw result: ")
    assert json.loads(raw) == answer
    assert caller.rounds == (2 if era == "modern" else 1)


@pytest.mark.parametrize("era", ERAS)
async def test_a_form_that_is_filled_in_wrongly_is_refused(era: str) -> None:
    caller = await asking(era, accept(name="Ann", integer=101))
    error = await caller.error("tools/call", {"name": "trigger-elicitation-request", "arguments": {}})
    assert error["code"] == -32602
    assert "integer" in error["message"]


async def test_clients_that_show_no_lists_are_asked_without_them() -> None:
    caller = await Caller(make(), "2025-06-18", can={"elicitation": {}}, answers=fixed(accept(name="Ann"))).open()
    assert "User inputs:\n- Name: Ann" in await caller.text("trigger-elicitation-request")
    asked = caller.asked[0][1]["requestedSchema"]["properties"]
    assert asked.keys() == {name for name, field in FIELDS.items() if field["type"] != "array"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("answer", "mark"), [({"action": "accept"}, "✅"), (DECLINE, "❌"), (CANCEL, "⚠️")])
async def test_a_link(era: str, answer: JSON, mark: str) -> None:
    caller = await asking(era, answer)
    result = await caller.text("trigger-url-elicitation", {**LINK, "message": "Pay", "elicitationId": "id-1"})
    ((_, params),) = caller.asked
    assert params["mode"] == "url"
    assert (params["url"], params["message"]) == (LINK["url"], "Pay")
    assert params.get("elicitationId") == ("id-1" if era == "legacy" else None)
    assert result.startswith(mark)
    assert "Elicitation ID: id-1" in result


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "https://user:pass@a.example", "nonsense"]
)
async def test_a_link_to_what_is_not_a_page_is_refused(url: str) -> None:
    caller = await asking("legacy", {"action": "accept"})
    result = await caller.call("trigger-url-elicitation", {"url": url})
    assert result["isError"]
    assert "The user cannot be sent there" in text_of(result)
    assert caller.asked == []


async def test_the_error_path_is_taken_once_for_each_call() -> None:
    caller = await asking("legacy", *[{"action": "accept"}] * 4)
    request = {"name": "trigger-url-elicitation", "arguments": {**LINK, "errorPath": True}}
    other = {"name": "trigger-url-elicitation", "arguments": {"url": "https://example.com/other", "errorPath": True}}
    for again in range(2):
        error = await caller.error("tools/call", request)
        (visit,) = error["data"]["elicitations"]
        assert (error["code"], visit["mode"], visit["url"]) == (-32042, "url", "https://modelcontextprotocol.io")
        assert (await caller.error("tools/call", other))["code"] == -32042
        assert "✅" in text_of(await caller.result("tools/call", request))
        assert "✅" in text_of(await caller.result("tools/call", other))
        assert len(caller.asked) == 2 * (again + 1)
    caller.session.end()


async def test_the_error_path_is_not_for_clients_without_links_nor_for_versions_without_the_error() -> None:
    arguments = {**LINK, "errorPath": True}
    modern = await asking("modern", {"action": "accept"})
    assert "✅" in await modern.text("trigger-url-elicitation", arguments)
    forms = await asking("legacy", can={"elicitation": {"form": {}}})
    result = await forms.request("tools/call", {"name": "trigger-url-elicitation", "arguments": arguments})
    assert "did not declare elicitation.url" in json.dumps(result)


@pytest.mark.parametrize("era", ERAS)
async def test_a_model_is_asked(era: str) -> None:
    caller = await asking(era, said("four"))
    result = await caller.text("trigger-sampling-request", {"prompt": "2 + 2?", "maxTokens": 9})
    ((method, params),) = caller.asked
    assert method == "sampling/createMessage"
    assert (params["maxTokens"], params["temperature"]) == (9, 0.7)
    assert params["systemPrompt"] == "You are a helpful test server."
    assert json.loads(result.removeprefix("LLM sampling result: ")) == said("four")


@pytest.mark.parametrize("era", ERAS)
async def test_a_model_uses_tools_of_the_server(era: str) -> None:
    caller = await asking(era, USE, said("42"))
    assert await caller.text("trigger-sampling-with-tools", {"prompt": "20 + 22?"}) == "The model said: 42"
    first, second = (params for _, params in caller.asked)
    assert [tool["name"] for tool in first["tools"]] == ["get-sum", "echo"]
    assert "The sum of 20 and 22 is 42." in json.dumps(second["messages"][-1])
    assert caller.rounds == (3 if era == "modern" else 1)


@pytest.mark.parametrize("era", ERAS)
async def test_roots(era: str) -> None:
    some = await asking(era, {"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]})
    assert "(2 total):\n\n1. Unnamed\n   URI: file:///a\n\n2. b\n   URI: file:///b" in await some.text("get-roots-list")
    none = await asking(era, {"roots": []})
    assert "has none now" in await none.text("get-roots-list")


@pytest.mark.parametrize("era", ERAS)
async def test_questions_in_rounds(era: str) -> None:
    caller = await asking(era, accept(value="tea"), accept(value=True))
    told = await caller.text("trigger-questions-in-rounds")
    order = caller.asked[1][1]["message"].split(":")[0]
    assert told == f"{order}: one tea, confirmed."
    assert caller.rounds == (3 if era == "modern" else 1)
    for answers, end in (
        ([DECLINE], "The user chose to decline the first question."),
        ([accept(value="coffee"), accept(value=False)], "was not confirmed."),
        ([accept(value="coffee"), CANCEL], "was not confirmed."),
    ):
        caller = await asking(era, *answers)
        assert (await caller.text("trigger-questions-in-rounds")).endswith(end)


@pytest.mark.parametrize("era", ERAS)
async def test_questions_at_once(era: str) -> None:
    caller = await asking(era, accept(value="small"), DECLINE, {"roots": []})
    assert await caller.text("trigger-questions-at-once") == "Size: small. Colour: decline. Roots: 0."
    assert [method for method, _ in caller.asked] == ["elicitation/create"] * 2 + ["roots/list"]
    assert caller.rounds == (2 if era == "modern" else 1)
    forms = await asking(era, accept(value="large"), accept(value="red"), can={"elicitation": {}})
    assert await forms.text("trigger-questions-at-once") == "Size: large. Colour: red."
