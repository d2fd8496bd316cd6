"""A question needs a capability that the client declared."""

from typing import Any

import pytest

from splice.errors import InvalidRequest, MissingClientCapability
from splice.protocol.capabilities import (
    ClientCapabilities,
    ElicitationCapability,
    RootsCapability,
    SamplingCapability,
)
from splice.protocol.content import TextContent
from splice.protocol.questions import (
    CREATE_MESSAGE,
    ELICIT,
    ROOTS_LIST,
    CreateMessageParams,
    ElicitParams,
    SamplingMessage,
    ToolChoice,
)
from splice.protocol.versions import FACTS, LATEST_MODERN
from splice.protocol.wire import Params
from splice.rules.sessions import Declared, Session, require
from support.tables import rows
from support.wire import JSON

FORM = ElicitParams(message="?", requested_schema={"type": "object"})
URL = ElicitParams(mode="url", message="?", url="https://example.com")
TALK = [SamplingMessage(role="user", content=TextContent(text="hi"))]
SAMPLE = CreateMessageParams(messages=TALK, max_tokens=1)
SAMPLE_TOOLS = CreateMessageParams(messages=TALK, max_tokens=1, tools=[])
SAMPLE_CHOICE = CreateMessageParams(messages=TALK, max_tokens=1, tool_choice=ToolChoice(mode="none"))
SAMPLE_CONTEXT = CreateMessageParams(messages=TALK, max_tokens=1, include_context="allServers")
SAMPLE_ALONE = CreateMessageParams(messages=TALK, max_tokens=1, include_context="none")

EMPTY = ClientCapabilities()
ROOTS = ClientCapabilities(roots=RootsCapability())
SAMPLING = ClientCapabilities(sampling=SamplingCapability())
SAMPLING_TOOLS = ClientCapabilities(sampling=SamplingCapability(tools={}))
SAMPLING_CONTEXT = ClientCapabilities(sampling=SamplingCapability(context={}))
ELICITATION = ClientCapabilities(elicitation=ElicitationCapability())
ONLY_FORM = ClientCapabilities(elicitation=ElicitationCapability(form={}))
ONLY_URL = ClientCapabilities(elicitation=ElicitationCapability(url={}))
BOTH = ClientCapabilities(elicitation=ElicitationCapability(form={}, url={}))

NEW, OLD = LATEST_MODERN, "2025-06-18"


@rows(
    ("method", "params", "has", "version", "missing"),
    [
        (ROOTS_LIST, Params(), ROOTS, NEW, None),
        (ROOTS_LIST, Params(), EMPTY, NEW, {"roots": {}}),
        (CREATE_MESSAGE, SAMPLE, SAMPLING, OLD, None),
        (CREATE_MESSAGE, SAMPLE, EMPTY, OLD, {"sampling": {}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, EMPTY, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_CHOICE, SAMPLING, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING_TOOLS, NEW, None),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING_TOOLS, OLD, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_CONTEXT, SAMPLING, NEW, {"sampling": {"context": {}}}),
        (CREATE_MESSAGE, SAMPLE_CONTEXT, SAMPLING_TOOLS, "2025-11-25", {"sampling": {"context": {}}}),
        (CREATE_MESSAGE, SAMPLE_CONTEXT, SAMPLING_CONTEXT, NEW, None),
        (CREATE_MESSAGE, SAMPLE_CONTEXT, EMPTY, NEW, {"sampling": {"context": {}}}),
        (CREATE_MESSAGE, SAMPLE_CONTEXT, SAMPLING, OLD, None),
        (CREATE_MESSAGE, SAMPLE_ALONE, SAMPLING, NEW, None),
        (ELICIT, FORM, ELICITATION, NEW, None),
        (ELICIT, FORM, ONLY_FORM, NEW, None),
        (ELICIT, FORM, BOTH, NEW, None),
        (ELICIT, FORM, ONLY_URL, NEW, {"elicitation": {"form": {}}}),
        (ELICIT, FORM, EMPTY, NEW, {"elicitation": {"form": {}}}),
        (ELICIT, FORM, ELICITATION, OLD, None),
        (ELICIT, FORM, ELICITATION, "2025-03-26", {"elicitation": {"form": {}}}),
        (ELICIT, URL, BOTH, NEW, None),
        (ELICIT, URL, ONLY_URL, "2025-11-25", None),
        (ELICIT, URL, ELICITATION, NEW, {"elicitation": {"url": {}}}),
        (ELICIT, URL, ONLY_FORM, NEW, {"elicitation": {"url": {}}}),
        (ELICIT, URL, BOTH, OLD, {"elicitation": {"url": {}}}),
    ],
)
@pytest.mark.requirement(355, 357)
def test_a_question_needs_what_the_client_declared(
    method: Any, params: Any, has: ClientCapabilities, version: str, missing: JSON
) -> None:
    declared = Declared(facts=FACTS[version], capabilities=has)
    if missing is None:
        require(declared, method.name, params)
        return
    with pytest.raises(MissingClientCapability, match=method.name) as caught:
        require(declared, method.name, params)
    assert caught.value.data == {"requiredCapabilities": missing}


def test_the_methods_of_extensions_need_nothing_that_is_known_here() -> None:
    require(Declared(facts=FACTS[NEW]), "com.example/ask", Params())


def test_a_client_whose_initialize_nobody_remembers_is_not_blamed() -> None:
    """It may well have declared the capability: the server is the one that cannot ask."""
    session = Session()
    session.open(OLD)
    assert session.declared is not None
    with pytest.raises(InvalidRequest, match=r"keeps no sessions \(stateless=True\) and cannot ask"):
        require(session.declared, ROOTS_LIST.name, Params())
