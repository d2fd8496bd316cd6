"""The journey to Barcelona by keys: the real host, its servers, the demo model, and the app, to the mail."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from examples.travel import office, weather
from examples.travel.mail import MailServer
from examples.travel.sink import kept, mail_sink

from faces.terminal.acting import Acting, sitting
from host.hosting import calls, hosting, said
from host.test_host_journey import ARGUMENTS, BOOKED, NOW
from splice.host.asked import Approval, Completion, Form, Sampling, Visit
from splice.host.host import Host
from splice.host.items import Chat, Question
from splice.host.models.demo import DemoModel
from splice.host.terminal.approval import ApprovalDialog
from splice.host.terminal.asking import Asking
from splice.host.terminal.inputs import FieldBox
from splice.host.terminal.prompting import PromptDialog
from travel.agency import TODAY, agency, visit

LONG = 180.0
"""Seconds that all of it may take, on a machine that is busy."""

TYPED = {"origin": "NYC", "name": "Ann Lee", "email": "ann@example.org"}
"""What the person types into fields that must be filled in."""


class Traveller:
    """Reads each question to its end, and answers it by its keys."""

    def __init__(self, person: Acting, host: Host) -> None:
        self.person, self.host = person, host
        self.asked: list[type] = []

    async def follow(self) -> None:
        """Answer until the turn is over."""
        while True:
            await self.person.until(lambda: self.open or not self.is_busy, "neither a question nor an end")
            dialog = self.open
            if dialog is None:
                return
            await self.answer(dialog)
            await self.gone(dialog.question.id)

    async def gone(self, question: str) -> None:
        await self.person.until(lambda: self.host.board.get(question, Question) is None, "it is not answered")

    @property
    def open(self) -> Asking[Any] | None:
        """The question that is open; the first that waits is opened."""
        app = self.person.app
        if self.host.board.all(Question) and len(app.screen_stack) == 1:
            app.action_answer()
        return self.person.asked

    @property
    def is_busy(self) -> bool:
        return any(each.is_busy for each in self.host.board.all(Chat)) or bool(self.host.board.all(Question))

    async def answer(self, dialog: Asking[Any]) -> None:
        asked = dialog.question.asked
        self.asked.append(type(asked))
        press = self.person.press
        match asked:
            case Form():
                await self.fill(dialog)
            case Visit():
                await press("y")
                await visit(asked.url, "POST")
                await press("i")
            case Approval() if asked.is_grave and isinstance(dialog, ApprovalDialog):
                await self.read(dialog)
                await press("a")
                await self.person.write(dialog.called)
                await press("enter")
            case _:
                await self.read(dialog)
                await press("a")

    async def read(self, dialog: Asking[Any]) -> None:
        await self.person.press("end")
        await self.person.until(lambda: dialog.is_armed, "it is never armed")

    async def fill(self, dialog: Asking[Any]) -> None:
        await self.person.until(lambda: dialog.query(FieldBox) and dialog.is_ready)
        for box in dialog.query(FieldBox):
            if box.field.is_required:
                box.focus_control()
                keys = ["space"] if box.field.kind == "tick" else [*TYPED[box.field.name]]
                await self.person.press(*("space" if key == " " else key for key in keys))
        await self.person.press("ctrl+s")
        if len(dialog.query(FieldBox)) > 1:
            await self.person.sees("Review")
            await self.person.press("ctrl+s")


@pytest.mark.timeout(LONG)
def test_the_journey_is_planned_and_booked_by_keys(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "planning").mkdir()
        async with mail_sink(tmp_path / "mails") as port:
            servers = {
                "travel": agency(tmp_path),
                "weather": weather.make(now=lambda: NOW),
                "office": office.make(tmp_path / "office", mail=MailServer(port=port), now=lambda: NOW),
            }
            options: dict[str, Any] = {"roots": [tmp_path / "planning"], "cwd": tmp_path}
            async with hosting(tmp_path / "home", servers, model=DemoModel(lambda: TODAY), **options) as host:
                for name in servers:
                    await host.start_server(name)
                    host.permissions.grant("allow", f"reads {name}", chat="")
                words = " ".join(f"{name}={value}" for name, value in ARGUMENTS.items())
                async with sitting(host, (100, 40), first=f"/plan-vacation {words}") as person:
                    traveller = Traveller(person, host)
                    await person.until(lambda: isinstance(person.app.screen, PromptDialog))
                    await person.sees("Barcelona")
                    assert said(host, "user") == []
                    await person.press("ctrl+s")
                    await person.until(lambda: traveller.is_busy)
                    await traveller.follow()
                    await person.sees("Shall I go on")
                    await person.write("yes")
                    await person.press("enter")
                    await person.until(lambda: traveller.is_busy)
                    await traveller.follow()
                    await person.sees("All steps are done")
                    assert {each.state for each in calls(host)} == {"done"}
                    assert [each.tool for each in calls(host)][-4:] == BOOKED
                    assert {Approval, Form, Visit, Sampling, Completion} <= set(traveller.asked)
            assert len(kept(tmp_path / "mails")) == 1

    asyncio.run(asyncio.wait_for(main(), LONG))
