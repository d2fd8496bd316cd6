"""Prompts, and what getting one takes and gives."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.prompts import GetPromptParams, GetPromptResult, ListPromptsResult


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (
            ListPromptsResult,
            {
                "prompts": [
                    {"name": "a"},
                    {
                        "name": "b",
                        "title": "B",
                        "description": "d",
                        "arguments": [{"name": "x", "title": "X", "description": "d", "required": False}],
                        "icons": [],
                        "_meta": {},
                    },
                ],
                "nextCursor": "c",
            },
        ),
        (GetPromptParams, {"name": "a", "arguments": {"x": "1"}, "inputResponses": {}, "requestState": "s"}),
        (
            GetPromptResult,
            {
                "description": "d",
                "messages": [
                    {"role": "user", "content": {"type": "text", "text": "x"}},
                    {"role": "assistant", "content": {"type": "resource", "resource": {"uri": "a:", "text": "x"}}},
                ],
            },
        ),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


def test_arguments_of_prompts_are_text() -> None:
    with pytest.raises(msgspec.ValidationError, match="arguments"):
        msgspec.json.decode(b'{"name": "a", "arguments": {"x": 1}}', type=GetPromptParams)
