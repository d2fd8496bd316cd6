"""The journey to Barcelona in the real host: from the prompt to the mail, by the demo model."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from examples.travel import office, weather
from examples.travel.mail import MailServer
from examples.travel.person import Person
from examples.travel.screen import Screen
from examples.travel.sink import kept, mail_sink

from host.hosting import calls, hosting, run
from splice.host.asked import Answer, Asked, Completion, Decision, Filled, Form, Reviewed, RootsAsked, Sampling, Visit
from splice.host.models.demo import DemoModel
from splice.types import ElicitParams
from travel.agency import TODAY, agency

NOW = datetime(2027, 1, 10, 12, tzinfo=UTC)
ARGUMENTS = {
    "destination": "Barcelona",
    "departure_date": "2027-06-15",
    "return_date": "2027-06-22",
    "budget": "3000",
    "travelers": "2",
}
BOOKED = ["bookTrip", "writeItinerary", "createCalendarEvent", "sendEmail"]


class User:
    """Allows everything once, fills in forms, pays."""

    def __init__(self) -> None:
        self.person = Person(Screen(quiet=True), is_there=False)
        self.asked: list[str] = []

    async def __call__(self, server: str, asked: Asked) -> Answer:
        """Answer."""
        self.asked.append(type(asked).__name__)
        match asked:
            case Form() if not server:
                return Filled("accept", {"origin": "NYC"})
            case Form():
                params = ElicitParams(message=asked.message, requested_schema=asked.schema)
            case Visit():
                params = ElicitParams(mode="url", message=asked.message, url=asked.url)
            case RootsAsked():
                return Filled("accept", {"uris": asked.known})
            case Sampling() | Completion():
                return Reviewed("once")
            case _:
                return Decision("once")
        answer = await self.person.elicit(params)
        content = getattr(answer, "content", answer)
        return Filled("accept", content if isinstance(content, dict) else None)


def test_the_journey_is_planned_and_booked_in_the_host(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "planning").mkdir()
        user = User()
        async with mail_sink(tmp_path / "mails") as port:
            servers = {
                "travel": agency(tmp_path),
                "weather": weather.make(now=lambda: NOW),
                "office": office.make(tmp_path / "office", mail=MailServer(port=port), now=lambda: NOW),
            }
            options: dict[str, Any] = {"roots": [tmp_path / "planning"], "answers": user}
            home, model = tmp_path / "home", DemoModel(lambda: TODAY)
            async with hosting(home, servers, model=model, cwd=tmp_path, **options) as host:
                await host.say(prompt="travel/plan-vacation", arguments=ARGUMENTS)
                assert "Shall I go on" in (await host.wait()).text
                await host.say("Yes, please go on.")
                assert "All steps are done" in (await host.wait()).text
                assert {each.state for each in calls(host)} == {"done"}
                assert [each.tool for each in calls(host)][-4:] == BOOKED
                assert set(user.asked) == {"Approval", "Form", "Visit", "Sampling", "Completion", "RootsAsked"}
                logged = {record.kind for record in host.activity.all()}
                assert {"prompt", "turn", "call", "question", "answer", "elicitation", "sampling", "start"} <= logged
                assert sum(record.kind == "call" for record in host.activity.all()) == len(calls(host))
            assert len(kept(tmp_path / "mails")) == 1

    run(main())
