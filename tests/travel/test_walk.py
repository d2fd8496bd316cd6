"""The client of the travel example, with real servers: the whole story, and what it says when something is not so."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from examples.travel import client, processes
from examples.travel.person import ANSWERS, Person, Refused, choose, read_flights, read_value, scripted
from examples.travel.screen import Screen, plain
from examples.travel.walk import Seen

from cli import test_asking
from splice.cli.demo import part
from splice.cli.outcomes import FAILED, OK
from support.warm import warm_python


def test_the_whole_story(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "kept here"
    monkeypatch.setattr(sys, "executable", warm_python())
    monkeypatch.setattr(sys, "argv", ["client", "--no-input", "--folder", str(folder)])
    code, (out, err) = client.main(), capfd.readouterr()
    assert (code, err) == (OK, "")
    for shown in (
        "HTTP, 2026-07-28",
        "office stdio, 2025-11-25",
        "“Bar” as an airport: Barcelona (BCN), Barbados (BGI)",
        "asks for a model to weigh 47 flights",
        "a few rules (no AI) answers: options",
        "travel asks: Please confirm your Barcelona vacation booking details:",
        "presses the button; the page",
        "heard calendar://my-calendar/",
        "heard weather://alerts/Barcelona has changed",
        "yellow: Strong wind along the coast",
        "Wrote trips/Barcelona-20",
    ):
        assert shown in out
    assert (out.count("✓"), out.count("✗")) == (6, 0)
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80
    (itinerary,) = (folder / "travel-planning/trips").iterdir()
    assert itinerary.read_text().startswith("# Barcelona vacation")
    assert len(list((folder / "mails").iterdir())) == 2
    assert {file.name for file in (folder / "data").glob("*.db")} == {"travel.db", "calendar.db"}


@pytest.fixture
def demo() -> Any:
    """Import the example's client as a part of its package."""
    return part("client")


def test_what_is_not_so_is_said(demo: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    async def journey(*_: object) -> Any:
        return SimpleNamespace(seen=Seen(), problems=["not so: the colleagues know"])

    monkeypatch.setattr(demo, "journey", journey)
    monkeypatch.setattr(sys, "argv", ["client", "--no-input"])
    assert demo.main() == FAILED
    assert capsys.readouterr().err == "travel: not so: the colleagues know\n"

    async def refused(*_: object) -> Any:
        raise demo.Refused("you did not allow bookTrip")

    monkeypatch.setattr(demo, "journey", refused)
    assert demo.main() == FAILED
    assert capsys.readouterr().err == "travel: you did not allow bookTrip\n"


def test_who_is_told_to_end_ends_in_order(demo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Path] = []

    async def journey(folder: Path, *_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(30)
        finally:
            ended.append(folder)

    monkeypatch.setattr(demo, "journey", journey)
    with pytest.raises(KeyboardInterrupt):
        demo.show(as_json=True)
    assert [folder.exists() for folder in ended] == [False]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


async def test_a_web_server_that_does_not_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", warm_python())
    monkeypatch.setattr(processes, "FOLDER", tmp_path)
    with pytest.raises(RuntimeError, match="the weather server does not start: splice: there is no file"):
        async with processes.on_http("weather", {}):
            pass


def test_a_person_is_asked_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", warm_python())
    begins = f"import sys\nsys.executable = {warm_python()!r}\n"  # so its servers are warm, too
    begins += "from examples.travel.client import main\nsys.exit(main())"
    monkeypatch.setattr(test_asking, "HEARS_CTRL_C", begins)
    with test_asking.Screen() as terminal:
        terminal.type("n\n\nwhat?\n\n\n")  # of two requests to a model one is allowed; then the booking, and its form
        terminal.until(r"(?s)seatPreference \(window, aisle, no preference\).*\[aisle\]")
        terminal.type("middle\nwindow\n" + "\n" * 20)
        assert terminal.end() == OK, terminal.shown
    for shown in (
        "nobody may choose, so the cheapest comes first",
        "ranked by model",
        "Type y or n; Enter says yes.",
        "'middle' is not one of (window, aisle, no preference).",
        "Shall I press its button for you?",
        "Allow sendEmail?",
        "\x1b[",
    ):
        assert shown in terminal.shown
    assert terminal.shown.count("seatPreference (") == 2, "what does not fit is asked for again"


@pytest.mark.parametrize("leaving", ["Ctrl-C", "Ctrl-D"])
async def test_who_leaves_at_a_question_leaves_its_line(leaving: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept, (reads, writes) = os.dup(0), os.pipe()
    os.dup2(reads, 0)
    try:
        asking = asyncio.create_task(Person(Screen(), is_there=True).allow("sendEmail"))
        await asyncio.sleep(0)
        asking.cancel() if leaving == "Ctrl-C" else os.close(writes)
        with pytest.raises((asyncio.CancelledError, Refused)):
            await asking
    finally:
        os.dup2(kept, 0)
        for each in (kept, reads, *[writes] * (leaving == "Ctrl-C")):
            os.close(each)
    assert capsys.readouterr().out == "           Allow sendEmail? [Y/n] \n"


def test_a_question_is_wrapped_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().ask(
        "roomType (city view, garden view, sea view) Preferred room type at hotel (sea view +$228.73) [city view]"
    )
    first, second = capsys.readouterr().out.split("\n")
    assert first == "           roomType (city view, garden view, sea view) Preferred room type at"
    assert second == "           hotel (sea view +$228.73) [city view] "


FORM: dict[str, dict[str, Any]] = {
    "confirmBooking": {"type": "boolean"},
    "seatPreference": {"type": "string", "enum": ["window"]},
    "roomType": {"type": "string", "oneOf": [{"const": "sea view"}, {"const": "city view"}]},
    "pets": {"type": "integer"},
    "nights": {"type": "number", "default": 2},
    "nickname": {"type": "string"},
}


def test_the_script_fills_in_what_fits() -> None:
    needed = {name: scripted(name, field, is_needed=True) for name, field in FORM.items()}
    assert needed == {
        "confirmBooking": True,
        "seatPreference": "window",
        "roomType": ANSWERS["roomType"],
        "pets": 1,
        "nights": 2,
        "nickname": "none",
    }
    assert scripted("pets", FORM["pets"], is_needed=False) is None
    assert [read_value("no", "boolean"), read_value("3", "integer"), read_value("x", "string")] == [False, 3, "x"]
    with pytest.raises(ValueError, match="perhaps"):
        read_value("perhaps", "boolean")


def test_the_rules_choose_as_a_traveller_would() -> None:
    text = """Analyze these flight options and recommend the best choice:
1. Slow Air, JFK-LHR-MAD-BCN, 22:00 to 20:00 (+1), 16h00, 2h00 in LHR, 3h00 in MAD, $300.00, 3 seats left
2. Iberwing, JFK-BCN, 08:00 to 20:00, 7h00, direct, $1,350.00, 3 seats left
3. Iberwing, JFK-MAD-BCN, 08:00 to 22:00, 9h00, 1h00 in MAD, $400.00, 3 seats left
4. Tejo, JFK-LIS-BCN, 09:00 to 23:00, 9h00, 1h00 in LIS, $400.00, 3 seats left
User preferences: morning departure, max 1 layover, likes Iberwing and Nordvind
5. not a flight"""
    flights = read_flights(text)
    assert [(each.minutes, each.stops, each.dollars) for each in flights[:2]] == [(960, 2, 300), (420, 0, 1350)]
    assert [each.number for each in choose(flights, "Iberwing and Nordvind")] == [3, 4, 1]


def test_what_a_server_says_is_shown_harmless() -> None:
    assert plain("a\x1b[31mb\u202ec\nd") == "a�[31mb�c\nd"
    assert plain("x" * 700).endswith("…")
    assert len(plain("x" * 700)) == 600


async def test_a_page_elsewhere_is_not_visited() -> None:
    from splice.types import ElicitParams

    person = Person(Screen(quiet=True), is_there=False)
    question = ElicitParams(mode="url", message="Pay", url="https://pay.example.com/", elicitation_id="1")
    assert (await person.elicit(question)).action == "decline"
