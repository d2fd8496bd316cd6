"""`splice demo`: everything once, and an end by itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import Splice, splice_process
from cli.test_asking import Screen
from splice.cli import demo
from splice.cli.demo_tour import Seen, Tour
from splice.cli.outcomes import FAILED, OK

VERSIONS = {"2026-07-28", "2025-11-25"}


def test_the_demo_shows_everything_and_ends(splice: Splice) -> None:
    done = splice("demo", "--no-input")
    assert done.code == OK, done.err
    assert done.err == ""
    for shown in (
        "tools      price, cook, reserve",
        '→ {"dish":"pasta","count":2,"total":22.0}',
        "log, info: the kitchen begins with the soup",
        "5/5 soup on the stove",
        "the server asks: A table, with pleasure.",
        "answered without a terminal: name Ada",
        "→ A table for 2, terrace, for Ada.",
        "→ refused: There is no pizza.",
        "→ user: I feel hungry",
        "It works.",
    ):
        assert shown in done.out
    assert done.out.count("✓") == 4
    assert "\x1b" not in done.out


def test_the_demo_as_json(splice: Splice) -> None:
    runs = splice("demo", "--json").json["runs"]
    assert {(run["transport"], run["version"]) for run in runs} == {
        (transport, version) for transport in ("stdio", "HTTP") for version in VERSIONS
    }
    assert all(run["progress"] == 5 and run["asked"] == 1 and run["logs"] == 1 for run in runs)


def test_the_demo_without_a_terminal_runs_as_a_process() -> None:
    done = splice_process("demo")
    assert done.returncode == OK, done.stderr
    assert b"answered without a terminal" in done.stdout


def test_the_demo_asks_at_a_terminal_and_is_colourful() -> None:
    with Screen("demo") as screen:
        for question, text in (
            ("Fill in the form\\?", "y"),
            ("name ", "Bob"),
            ("guests ", "4"),
            ("place ", "inside"),
            ("Send it\\?", ""),
        ):
            screen.until(question)
            screen.type(f"{text}\n")
        assert screen.end() == OK
    assert "A table for 4, inside, for Bob." in screen.shown
    assert "\x1b[" in screen.shown


def test_a_demo_that_goes_wrong_says_so(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(tour: Tour, *_: object) -> Seen:
        return tour.seen

    monkeypatch.setattr(Tour, "walk", nothing)
    done = splice("demo", "--no-input")
    assert done.code == FAILED
    assert "the demo went wrong: stdio, : the server did not list all it has" in done.err


def test_a_web_server_that_does_not_start(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(tour: Tour, *_: object) -> Seen:
        return tour.seen

    monkeypatch.setattr(Tour, "walk", nothing)
    monkeypatch.setattr(demo, "SERVER", Path("nowhere.py"))
    done = splice("demo", "--no-input")
    assert done.code == FAILED
    assert "the demo's web server does not start: splice: there is no file 'nowhere.py'" in done.err


def test_a_demo_without_its_server(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SERVER", Path("nowhere.py"))
    done = splice("demo", "--no-input")
    assert done.code == FAILED
    assert done.err.startswith("splice: the demo failed: ")


@pytest.mark.parametrize("name", ["weather.py", "ask_the_user.py", "client.py"])
def test_the_examples_run(name: str) -> None:
    path = Path(__file__).parents[2] / "examples" / name
    words = [sys.executable, str(path)]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True, env=os.environ)
    assert done.stderr == b""
    if name == "client.py":
        assert b"ann is gone (not needed), as number 1." in done.stdout


def test_the_weather_example(splice: Splice) -> None:
    path = str(Path(__file__).parents[2] / "examples" / "weather.py")
    done = splice("call", path, "forecast", "city=Oslo", "days=2", "--json")
    assert json.loads(done.out)["structuredContent"] == [{"day": 1, "sky": "snow"}, {"day": 2, "sky": "snow"}]
