"""A model that works for a server, over every transport: it uses the server's functions, and answers by a type."""

import json
from types import ModuleType
from typing import Any

import pytest

from behaviour.conftest import Connect
from splice import Extension, Question, Served
from splice.protocol.capabilities import SamplingCapability
from splice.protocol.versions import FACTS, VERSIONS
from splice.types import (
    CREATE_MESSAGE,
    CreateMessageParams,
    CreateMessageResult,
    TextContent,
    ToolResultContent,
    ToolUseContent,
)
from support import sampling_server

TOOLS = [version for version in VERSIONS if FACTS[version].sampling_tools]


class Model(Extension[Question]):
    """A client's model that uses tools: each answer is the next one of a list."""

    def __init__(self, *answers: Any) -> None:
        super().__init__("", methods=[Served(CREATE_MESSAGE, self.answer)])
        self.answers = list(answers)
        self.asked: list[CreateMessageParams] = []

    def declare(self, capabilities: Any) -> None:
        capabilities.sampling = SamplingCapability(tools={})

    async def answer(self, question: Question) -> CreateMessageResult:
        self.asked.append(question.params)
        content = self.answers.pop(0)
        return CreateMessageResult(role="assistant", content=content, model="m")


@pytest.fixture
def served() -> ModuleType:
    return sampling_server


@pytest.mark.requirement(358, 359, 361, 367)
@pytest.mark.parametrize("version", TOOLS, indirect=True)
async def test_a_model_uses_the_functions_of_a_server_each_of_them_once(connect: Connect) -> None:
    uses = [
        ToolUseContent(id="1", name="add", input={"a": "2", "b": 3}),  # repaired
        ToolUseContent(id="2", name="shout", input={"text": "hey"}),
    ]
    again = ToolUseContent(id="1", name="add", input={"a": 5, "b": 5})
    model = Model(uses, [TextContent(text="Hm."), again], TextContent(text="ten"))
    async with connect(extensions=[model]) as client:
        result = await client.call_tool("agent", {"task": "Add them up"})
        assert result.text == "ten (add 2 3, add 5 5, shout hey)"
    first, second, third = model.asked
    assert [tool.name for tool in first.tools or []] == ["add", "shout"]
    assert (first.messages[0].role, first.messages[0].content) == ("user", TextContent(text="Add them up"))
    used, results = second.messages[1:]
    assert (used.role, used.blocks, results.role) == ("assistant", uses, "user")
    told = [block for block in results.blocks if isinstance(block, ToolResultContent)]
    assert [(each.tool_use_id, each.is_error) for each in told] == [("1", False), ("2", False)]
    assert [each.content for each in told] == [[TextContent(text="5")], [TextContent(text="HEY")]]
    assert third.messages[:3] == second.messages
    assert len(third.messages) == 5


@pytest.mark.parametrize("version", TOOLS, indirect=True)
async def test_a_model_with_tools_gives_a_value_of_a_type(connect: Connect) -> None:
    model = Model(ToolUseContent(id="1", name="final_answer", input={"name": "Rioja", "year": 2019}))
    async with connect(extensions=[model]) as client:
        assert (await client.call_tool("pick")).text == "Rioja of 2019"
    (asked,) = model.asked
    assert asked.tool_choice is not None
    assert asked.tool_choice.mode == "required"
    (tool,) = asked.tools or []
    assert tool.input_schema["properties"] == {"name": {"type": "string"}, "year": {"type": "integer"}}


async def test_a_model_without_tools_gives_a_value_of_a_type(connect: Connect) -> None:
    answers = ["A Rioja.", '```json\n{"name": "Rioja", "year": 2019}\n```']
    asked: list[CreateMessageParams] = []

    def on_sample(params: CreateMessageParams) -> str:
        asked.append(params)
        return answers.pop(0)

    async with connect(on_sample=on_sample) as client:
        assert (await client.call_tool("pick")).text == "Rioja of 2019"
    demand = asked[0].messages[1].content
    assert isinstance(demand, TextContent)
    assert json.loads(demand.text.partition("\n")[2])["required"] == ["name", "year"]
    assert [message.role for message in asked[1].messages] == ["user", "user", "assistant", "user"]
    assert all(params.tools is None and params.tool_choice is None for params in asked)
