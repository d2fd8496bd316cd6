"""`narrow` leaves out what a version lacks, changes nothing else and nothing in place."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from protocol.wire import foreign, instances, span_of, wire_types
from splice.protocol.capabilities import (
    ClientCapabilities,
    ElicitationCapability,
    RootsCapability,
    SamplingCapability,
)
from splice.protocol.content import (
    Annotations,
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    ToolResultContent,
    ToolUseContent,
)
from splice.protocol.jsonrpc import NULL, raw
from splice.protocol.lifecycle import InitializeParams, RequestMeta
from splice.protocol.narrow import narrow
from splice.protocol.prompts import GetPromptResult, PromptMessage
from splice.protocol.questions import CreateMessageParams, CreateMessageResult, ElicitParams, SamplingMessage
from splice.protocol.resources import ListResourcesResult, Resource
from splice.protocol.tools import CallToolParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution
from splice.protocol.versions import (
    FACTS,
    LATEST_HANDSHAKE,
    LATEST_MODERN,
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
    VERSIONS,
    Since,
    Until,
    covers,
)
from splice.protocol.wire import Icon, Implementation
from support.tables import rows

AUDIO = AudioContent(data="AA==", mime_type="audio/wav")
LINK = ResourceLink(uri="file:///r", name="report")
USE = ToolUseContent(id="c1", name="add", input={"a": 1})
USED = ToolResultContent(tool_use_id="c1", content=[AUDIO, TextContent(text="2")])


def written(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


FULL_TOOL = Tool(
    name="add",
    title="Add",
    description="Adds.",
    input_schema={"type": "object"},
    output_schema={"type": "object"},
    annotations=ToolAnnotations(read_only_hint=True),
    execution=ToolExecution(task_support="optional"),
    icons=[Icon(src="data:,")],
    meta={"a": 1},
)

TOOL_FIELDS = {
    V2024_11_05: {"name", "description", "inputSchema"},
    V2025_03_26: {"name", "description", "inputSchema", "annotations"},
    V2025_06_18: {"name", "description", "inputSchema", "annotations", "title", "outputSchema", "_meta"},
    V2025_11_25: {
        *("name", "description", "inputSchema", "annotations", "title", "outputSchema", "_meta"),
        *("execution", "icons"),
    },
    V2026_07_28: {"name", "description", "inputSchema", "annotations", "title", "outputSchema", "_meta", "icons"},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_tool_keeps_the_fields_of_the_version(version: str) -> None:
    page = narrow(ListToolsResult(tools=[FULL_TOOL, FULL_TOOL], ttl_ms=5, cache_scope="public"), version)
    assert [written(tool).keys() for tool in page.tools] == [TOOL_FIELDS[version]] * 2
    assert ("ttlMs" in written(page)) is (version in LATEST_MODERN)


def test_the_same_object_comes_back_when_nothing_is_too_new() -> None:
    plain = CallToolResult(content=[TextContent(text="x"), ImageContent(data="", mime_type="image/png")])
    for version in VERSIONS:
        assert narrow(plain, version) is plain


def test_what_needs_no_change_is_shared_with_the_original() -> None:
    old, new = Resource(uri="a:", name="a"), Resource(uri="b:", name="b", title="B")
    page = narrow(ListResourcesResult(resources=[old, new], next_cursor="c"), V2024_11_05)
    assert page.resources[0] is old
    assert page.resources[1] == Resource(uri="b:", name="b")
    assert page.next_cursor == "c"


@pytest.mark.parametrize("value", [None, 5, "x", {"content": []}, [FULL_TOOL], msgspec.Raw(b"{}")])
def test_anything_but_a_struct_is_returned_as_it_is(value: object) -> None:
    assert narrow(value, V2024_11_05) is value


def test_an_unknown_version_is_an_error() -> None:
    with pytest.raises(ValueError):
        narrow(FULL_TOOL, "2031-01-01")


@pytest.mark.parametrize(
    ("block", "since", "text"),
    [
        (AUDIO, V2025_03_26, "[audio left out: audio/wav]"),
        (LINK, V2025_06_18, "[resource_link left out: report, file:///r]"),
    ],
)
def test_a_block_the_version_lacks_becomes_text(block: ContentBlock, since: str, text: str) -> None:
    result = CallToolResult(content=[TextContent(text="before"), block])
    prompt = GetPromptResult(messages=[PromptMessage(role="user", content=block)])
    for version in VERSIONS:
        if covers((Since(since),), version):
            assert narrow(result, version) is result
            assert narrow(prompt, version) is prompt
        else:
            assert narrow(result, version).content == [TextContent(text="before"), TextContent(text=text)]
            assert narrow(prompt, version).messages == [PromptMessage(role="user", content=TextContent(text=text))]


def test_the_text_keeps_whom_the_block_was_for() -> None:
    link = ResourceLink(
        uri="a:", name="a", annotations=Annotations(audience=["user"], priority=1, last_modified="2025-01-01")
    )
    (block,) = narrow(CallToolResult(content=[link]), V2025_03_26).content
    assert isinstance(block, TextContent)
    assert block.annotations == Annotations(audience=["user"], priority=1)


def test_the_contents_of_an_embedded_resource_are_narrowed() -> None:
    block = EmbeddedResource(resource=ResourceContents(uri="a:", text="x", meta={"a": 1}), meta={"b": 1})
    (narrowed,) = narrow(CallToolResult(content=[block]), V2025_03_26).content
    assert narrowed == EmbeddedResource(resource=ResourceContents(uri="a:", text="x"))


def test_several_blocks_become_several_messages_where_one_is_allowed() -> None:
    params = CreateMessageParams(
        max_tokens=9,
        messages=[
            SamplingMessage(role="user", content=[TextContent(text="a"), ImageContent(data="", mime_type="image/png")]),
            SamplingMessage(role="assistant", content=[USE], meta={"a": 1}),
            SamplingMessage(role="user", content=USED),
        ],
        tools=[FULL_TOOL],
    )
    narrowed = narrow(params, V2025_06_18)
    assert [(message.role, message.content) for message in narrowed.messages] == [
        ("user", TextContent(text="a")),
        ("user", ImageContent(data="", mime_type="image/png")),
        ("assistant", TextContent(text="[tool_use left out: add, c1]")),
        ("user", TextContent(text="[tool_result left out: c1]")),
    ]
    assert narrowed.tools is None
    assert narrow(params, V2025_11_25) is params


@pytest.mark.parametrize(
    ("blocks", "one"),
    [
        ([], TextContent(text="")),
        ([AUDIO], AUDIO),
        ([USE], TextContent(text="[tool_use left out: add, c1]")),
        (
            [TextContent(text="a"), ImageContent(data="", mime_type="image/png"), USED],
            TextContent(text="a\n[image left out: image/png]\n[tool_result left out: c1]"),
        ),
    ],
)
def test_several_blocks_become_one_in_the_answer_of_a_model(blocks: list[Any], one: Struct) -> None:
    answer = CreateMessageResult(role="assistant", content=blocks, model="m")
    assert narrow(answer, V2025_06_18).content == one
    assert narrow(answer, V2025_11_25) is answer


def test_one_block_in_the_answer_of_a_model_is_narrowed() -> None:
    answer = CreateMessageResult(role="assistant", content=AUDIO, model="m")
    assert narrow(answer, V2025_03_26) is answer
    assert narrow(answer, V2024_11_05).content == TextContent(text="[audio left out: audio/wav]")


def test_capabilities_a_version_lacks_are_not_declared() -> None:
    params = InitializeParams(
        protocol_version=LATEST_HANDSHAKE,
        capabilities=ClientCapabilities(
            roots=RootsCapability(list_changed=True),
            sampling=SamplingCapability(tools={}),
            elicitation=ElicitationCapability(url={}),
            extensions={"a.example/b": {}},
        ),
        client_info=Implementation(name="c", version="1", title="C", icons=[]),
    )
    assert written(narrow(params, V2024_11_05)) == {
        "protocolVersion": LATEST_HANDSHAKE,
        "capabilities": {"roots": {"listChanged": True}, "sampling": {}, "extensions": {"a.example/b": {}}},
        "clientInfo": {"name": "c", "version": "1"},
    }
    assert written(narrow(params, V2025_06_18))["capabilities"]["elicitation"] == {}
    assert written(narrow(params, V2026_07_28))["capabilities"]["roots"] == {}


def test_a_request_loses_what_only_the_newest_version_says() -> None:
    meta = RequestMeta(progress_token=1, protocol_version=LATEST_MODERN, log_level="info")
    assert written(narrow(meta, V2025_11_25)) == {"progressToken": 1}
    params = CallToolParams(name="t", request_state="s", input_responses={}, meta=raw({"a": 1}))
    assert written(narrow(params, V2025_11_25)) == {"name": "t", "_meta": {"a": 1}}


def test_null_is_a_value_to_clear_like_any_other() -> None:
    result = CallToolResult(content=[], structured_content=NULL)
    assert written(narrow(result, V2026_07_28)) == {"content": [], "structuredContent": None}
    assert written(narrow(result, V2025_06_18)) == {"content": [], "structuredContent": {"result": None}}
    assert written(narrow(result, V2025_03_26)) == {"content": []}


@rows("value", [[1], "x", 0, False, [], raw([1]), raw(" 1"), {}, {"a": [1]}, raw({"a": 1}), None])
@rows("version", VERSIONS)
def test_structured_content_is_an_object_where_it_has_to_be(value: Any, version: str) -> None:
    result, used = CallToolResult(content=[], structured_content=value), replace(USED, structured_content=value)
    plain, wrapped = written(value), written({"result": value})
    is_object = value is None or isinstance(plain, dict)
    expected = plain if is_object or FACTS[version].any_structured_content else wrapped
    if covers((Since(V2025_06_18),), version):
        assert written(narrow(result, version).structured_content) == expected
    else:
        assert narrow(result, version).structured_content is None
    message = CreateMessageResult(role="user", content=used, model="m")
    if covers(ToolResultContent.span, version):
        assert written(narrow(message, version).content.structured_content) == expected  # type: ignore[union-attr]


def test_elicitation_by_url_cannot_be_said_before_it_existed() -> None:
    with pytest.raises(ValueError, match="requestedSchema"):
        narrow(ElicitParams(mode="url", message="go", url="https://a.example/"), V2025_06_18)


@pytest.mark.parametrize(
    ("marks", "versions"),
    [
        ((), VERSIONS),
        ((Since(V2025_06_18),), VERSIONS[2:]),
        ((Until(V2025_06_18),), VERSIONS[:3]),
        ((Since(V2025_03_26), Until(V2025_11_25)), VERSIONS[1:4]),
        (("no mark", Until(V2024_11_05)), VERSIONS[:1]),
    ],
)
def test_marks_cover_versions(marks: tuple[object, ...], versions: tuple[str, ...]) -> None:
    assert tuple(version for version in VERSIONS if covers(marks, version)) == versions


@pytest.mark.parametrize("kind", wire_types().values(), ids=lambda kind: kind.__name__)
@settings(max_examples=12)
@given(data=st.data())
def test_any_value_of_any_type_in_any_version(kind: type[Struct], data: st.DataObject) -> None:
    value = data.draw(instances(kind))
    before = msgspec.json.encode(value)
    assert msgspec.json.encode(msgspec.json.decode(before, type=kind)) == before
    for version in VERSIONS:
        narrowed = narrow(value, version)
        assert msgspec.json.encode(value) == before
        assert narrow(narrowed, version) is narrowed
        if covers(span_of(kind), version):
            assert list(foreign(narrowed, version)) == []
            assert (narrowed is value) is (list(foreign(value, version)) == [])


FORM: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "default": "Ann"},
        "count": {"type": "integer", "default": 3},
        "sure": {"type": "boolean", "default": True},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}], "default": "s"},
    },
    "required": ["name"],
}


@pytest.mark.parametrize("version", [each for each in VERSIONS if covers(ElicitParams.span, each)])
def test_forms_hold_what_their_version_has(version: str) -> None:
    narrowed = narrow(ElicitParams(message="m", requested_schema=FORM), version).requested_schema
    if FACTS[version].rich_forms:
        assert narrowed is FORM
        return
    assert narrowed == {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "count": {"type": "integer"},
            "sure": {"type": "boolean", "default": True},
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "l"]},
        },
    }
    listing = {"type": "object", "properties": {"sizes": {"type": "array", "items": {"enum": ["s", "l"]}}}}
    with pytest.raises(ValueError, match=f"^the form's field 'sizes' is a list of choices, .* {version} cannot show$"):
        narrow(ElicitParams(message="m", requested_schema=listing), version)
