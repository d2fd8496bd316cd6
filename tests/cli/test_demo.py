"""`splice demo`: the journey in the host, by policy to its end, and what it says when it cannot."""

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Splice
from guards.source import ROOT
from splice.cli.demo import PACKAGE, PLACES, part
from splice.cli.outcomes import FAILED, USAGE


@pytest.fixture
def travel(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the example as `splice demo` does, and be where its secrets are not."""
    monkeypatch.delenv("SPLICE_HOME", raising=False)
    return part("hosted")


def test_the_journey_by_policy(splice: Splice, travel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, checked = tmp_path / "kept here", travel.checks

    async def checks(*words: Any) -> dict[str, bool]:
        return {**await checked(*words), "the sun shines": False}

    monkeypatch.setattr(travel, "checks", checks)
    done = splice("demo", "--folder", str(folder))
    assert (done.code, done.err) == (FAILED, "splice: the demo went wrong: not so: the sun shines\n")
    lines = done.out.splitlines()
    assert lines[0].startswith("You: /plan-vacation destination=Barcelona departure_date=20")
    for shown in (
        "Attached: calendar://my-calendar/",
        "Demo model · no AI: Step 1 of 6: Check my calendar",
        "the model asks: ",
        "travel asks: may demo-rules-1 answer",
        "Answered by policy: confirmBooking yes, seatPreference aisle",
        "travel findBestFlight: done in ",
        "Allowed by the policy: a rule allows office/*.",
        "Demo model · no AI: All steps are done:",
    ):
        assert shown in done.out, shown
    at = [done.out.index(each) for each in ("\n  This is the plan:", "\nYou: Yes, please", "asks: Please confirm your")]
    assert at == sorted(at), "what is asked stands behind what it is asked about"
    assert (done.out.count("✓"), done.out.count("✕")) == (6, 1)
    assert [
        line for line in lines if line.startswith("Trip planned: 3 servers, 14 calls, 8 answered by policy, 0 failed")
    ]
    assert "try    splice demo --web" in lines
    assert "\x1b" not in done.out
    assert lines[-1] == f"try    SPLICE_HOME='{folder}/home' splice host log"
    monkeypatch.setenv("SPLICE_HOME", str(folder / "home"))
    assert "office" in splice("host", "log", "--kind", "call").out
    assert len(list((folder / "mails").iterdir())) == 1
    assert list((folder / "home" / "state" / "activity").iterdir())
    assert list((folder / "travel-planning").rglob("*.md"))


def test_a_page_is_not_json(splice: Splice) -> None:
    done = splice("demo", "--web", "--json")
    assert (done.code, "--web" in done.err and "--json" in done.err) == (USAGE, True)


def test_servers_that_do_not_start(
    splice: Splice, travel: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules[f"{PACKAGE}.processes"], "FOLDER", tmp_path)
    done = splice("demo", "--no-input")
    assert done.code == FAILED
    assert done.err.startswith("splice: the demo failed: ")
    assert "there is no file" in done.err


def test_the_demo_names_what_it_needs(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == PACKAGE]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiosmtpd.smtp", None)
    done = splice("demo", "--no-input")
    assert (done.code, done.err) == (FAILED, "splice: the demo needs aiosmtpd: pip install 'splice[demo]'\n")
    for name in [each for each in sys.modules if each.partition(".")[0] == PACKAGE]:
        monkeypatch.delitem(sys.modules, name)


def test_a_package_without_the_example(splice: Splice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("splice.__file__", str(tmp_path / "splice" / "__init__.py"))
    done = splice("demo", "--no-input")
    assert (done.code, done.out) == (FAILED, "")
    assert "the travel example is not here" in done.err


def test_the_wheel_has_the_example() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert "examples/travel" in wheel["only-include"]
    assert wheel["sources"]["examples"] == f"splice/{PLACES[0].removesuffix('/travel')}"
