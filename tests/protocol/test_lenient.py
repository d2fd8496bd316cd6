"""The second reading is bounded; what it puts right is tested where it shows."""

import pytest
from msgspec import ValidationError

from splice.protocol import lenient
from splice.protocol.tools import CallToolResult


def test_a_list_of_very_many_items_is_not_read_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenient, "MAX_PARTS", 100)
    for item in (b"1", b"{}", b'{"type":"text","text":1}'):
        with pytest.raises(ValidationError, match=r"Too many items to be put right - at `\$.content`"):
            lenient.read(b'{"content":[' + b",".join([item] * 102) + b"]}", CallToolResult)
