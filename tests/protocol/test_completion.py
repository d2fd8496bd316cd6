"""The completion of arguments."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.completion import CompleteParams, CompleteResult, PromptReference, ResourceTemplateReference


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (
            CompleteParams,
            {
                "ref": {"type": "ref/prompt", "name": "a", "title": "A"},
                "argument": {"name": "x", "value": ""},
                "context": {"arguments": {"y": "1"}},
            },
        ),
        (CompleteResult, {"completion": {"values": ["a", "b"], "total": 5, "hasMore": True}}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


def test_a_reference_is_told_apart_by_its_type() -> None:
    argument = {"name": "x", "value": ""}
    prompt = stable(CompleteParams, {"ref": {"type": "ref/prompt", "name": "a"}, "argument": argument}).ref
    template = stable(CompleteParams, {"ref": {"type": "ref/resource", "uri": "a:{b}"}, "argument": argument}).ref
    assert (prompt, prompt.type) == (PromptReference(name="a"), "ref/prompt")
    assert (template, template.type) == (ResourceTemplateReference(uri="a:{b}"), "ref/resource")
    with pytest.raises(msgspec.ValidationError, match="ref/tool"):
        msgspec.json.decode(
            b'{"ref": {"type": "ref/tool"}, "argument": {"name": "", "value": ""}}', type=CompleteParams
        )
