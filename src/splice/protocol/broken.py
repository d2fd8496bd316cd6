"""What can still be read of a text that is not JSON, or was too long to be kept.

A request in such a text can be refused: its sender is told. Nobody can be told of a response that cannot be used; the
call it answers would wait until its time is up. So its id is looked for, and what other parsers take is put right.
"""

import json
import re
from typing import Any, cast

_MEMBER = rb'\s*+"\w++"\s*+:\s*+(?:"(?:[^"\\]|\\.)*+"|[-+.\w]++(?=.))\s*+'
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?\{((?:" + _MEMBER + rb",?+)*+)", re.DOTALL)
_LAST = re.compile(rb"((?:," + _MEMBER + rb")++)\}\s*+\Z")

ENDS_BYTES = 1024
"""How much is kept of either end of a text that is too long."""


def ends(first: bytes, last: bytes) -> dict[str, Any]:
    """Read the members of a message that stand before and behind its contents, such as the id.

    `first` and `last` are the beginning and the end of its text. Of a batch, they are members of its first message.
    """
    before, behind = _FIRST.match(first[:ENDS_BYTES]), _LAST.search(last[-ENDS_BYTES:])
    members = (before[1] if before else b"") + b"," + (behind[1][1:] if behind else b"")
    listed = re.sub(rb",\s*,", b",", members).strip(b", \t\r\n")
    try:
        return cast("dict[str, Any]", json.loads("{" + listed.decode(errors="replace") + "}", strict=False))
    except ValueError:
        return {}


def mended(text: bytes) -> bytes | None:
    """Write anew what Python and JavaScript take for JSON: NaN as null, a lone surrogate as U+FFFD. None: it is not."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    whole = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
