"""Twenty servers with five hundred tools that were used before: a turn begins without a process, and with little work.

Work is counted in calls of functions, not in time, which depends on the machine. `bench/host.py` measures the same.
"""

import asyncio
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench import host as bench

MOST_FOR_A_TOOL = 80
"""How many calls of functions a tool may cost, from the opening of the host to the end of the first turn."""

ONCE = {"fingerprint", "definition", "lint", "for_model", "for_user", "tokens", "of_json"}
"""What is made of each definition, and costs something."""

REMEMBERED = {"lint", "names_in", "_clean", "portable"}
"""What the pin of a definition remembers."""

SPARE = 50
"""How often these are called for what is no tool of a server."""


def test_a_first_turn_starts_no_process_and_looks_at_each_definition_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.prepare(tmp_path)
    started: list[Any] = []
    monkeypatch.setattr(subprocess.Popen, "__init__", lambda _self, *words, **_: started.append(words))
    calls: Counter[str] = Counter()

    def count(frame: Any, event: str, _: object) -> None:
        if event == "call" and "/splice/" in frame.f_code.co_filename:
            calls[frame.f_code.co_qualname] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        told = asyncio.run(bench.turn(tmp_path))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert started == []
    assert (told["processes"], told["tools"]) == (0, bench.TOOLS)
    assert told["given"] < 10  # the model searches
    assert calls["for_model"] + calls["for_user"] >= bench.TOOLS  # it is counted at all
    assert {name: calls[name] for name in ONCE if calls[name] > bench.TOOLS + SPARE} == {}
    assert {name: calls[name] for name in REMEMBERED if calls[name]} == {}
    assert calls.total() < MOST_FOR_A_TOOL * bench.TOOLS
    assert calls["Manifests.load"] == bench.SERVERS
