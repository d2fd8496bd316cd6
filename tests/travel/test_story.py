"""The page about the travel example shows messages that really cross the wire."""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Splice, splice
from guards.source import ROOT
from travel.recording import tell

__all__ = ["splice"]

PAGE = (ROOT / "docs" / "servers" / "travel.md").read_text()
BLOCKS = re.findall(r"<!-- wire: (\w+) ([\d-]+) -->\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CALLS = re.findall(r"^\$ splice ((?:call|read) .*)\n(.*)$", PAGE, re.MULTILINE)
MORE = "…"


def messages(text: str) -> list[Any]:
    """Read JSON values, one after the other."""
    decoder, found, text = json.JSONDecoder(), list[Any](), text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found


def fits(shown: Any, real: Any) -> bool:
    """Tell whether a message, of which parts may be left out, is the one that was sent."""
    if isinstance(shown, dict) and isinstance(real, dict):
        left_out = shown.keys() - real.keys()
        more = MORE in shown or real.keys() - shown.keys() <= {"_meta"}
        return left_out <= {MORE} and more and all(fits(shown[key], real[key]) for key in shown.keys() - left_out)
    if isinstance(shown, list) and isinstance(real, list):
        head = shown[:-1] if shown and shown[-1] == MORE else shown
        return len(real) >= len(head) and (head != shown or len(real) == len(head)) and all(map(fits, head, real))
    if isinstance(shown, str) and isinstance(real, str) and MORE in shown:
        return fnmatchcase(real, re.sub(r"([\[\]?*])", r"[\1]", shown).replace(MORE, "*"))
    return type(shown) is type(real) and bool(shown == real)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
async def test_the_messages_on_the_page_are_sent(version: str, tmp_path: Path) -> None:
    told = await tell(tmp_path, version)
    blocks = [(server, text) for server, its_version, text in BLOCKS if its_version == version]
    assert len(blocks) >= 5
    for server, text in blocks:
        sent = iter([message for _, message in told[server]])
        for shown in messages(text):
            assert any(fits(shown, real) for real in sent), f"{server}, {version}: {json.dumps(shown)[:300]}"


@pytest.mark.parametrize("place", CALLS)
def test_the_calls_on_the_page(splice: Splice, place: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words, shown = place
    done = splice(*words.split())
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(shown.removesuffix(" ..."))


def test_what_fits_and_what_does_not() -> None:
    assert fits({"a": ["x", "…"], "…": "…"}, {"a": ["x", "y"], "b": 1})
    assert fits("a [b]…d", "a [b] c d")
    assert not fits({"a": 1}, {"a": 1, "b": 2})
    assert not fits({"a": 1, "…": "…"}, {"b": 2})
    assert not fits(["x"], ["x", "y"])
    assert not fits("a…d", "abc")
    assert not fits(True, 1)
