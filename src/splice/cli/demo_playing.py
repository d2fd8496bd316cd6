"""The journey of `splice demo` in the host: watched by the user in a face, or by policy, and checked at its end."""

import asyncio
import shlex
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from splice import MCPError
from splice.cli.host_faces import Beside, face_of, served, serving
from splice.cli.host_failing import note, print_json, tell_try
from splice.cli.host_table import painted
from splice.cli.outcomes import FAILED, OK, Stop
from splice.cli.reaching import told
from splice.host.asking.unattended import Prepared
from splice.host.board import Batch, Board, Event
from splice.host.config.reading import Configuration
from splice.host.host import Host, HostError, HostOptions
from splice.host.items import Call, Message, Server
from splice.host.places import as_typed
from splice.host.terminal.spoken import Spoken


class Wanted(NamedTuple):
    """What the command line says."""

    folder: Path
    is_kept: bool
    place: str
    """Where the example lies, as the user would write it."""
    as_json: bool
    web: bool
    port: int
    opens: bool
    plain: bool


async def play(travel: Any, wanted: Wanted, *, is_watched: bool) -> int:
    """Take the journey, and return the exit code. Raises `Stop`."""
    try:
        return await (_watched(travel, wanted) if is_watched else _unattended(travel, wanted))
    except MCPError as error:
        raise Stop(FAILED, f"the demo failed: {told(error)}") from error
    except (RuntimeError, HostError) as error:
        raise Stop(FAILED, f"the demo failed: {error}") from error


async def _watched(travel: Any, wanted: Wanted) -> int:
    """Let the user plan the journey, in a face. Raises `Refused`."""
    face = serving() if wanted.web else face_of(plain=wanted.plain)
    async with _opened(travel, wanted) as host:
        for rule in travel.READS:
            host.permissions.grant("allow", rule, chat="")
        arguments: dict[str, str] = await travel.prepare(host)
        if wanted.web:
            return await served(face, host, wanted.port, opens=wanted.opens, proposed={travel.PROMPT: arguments})
        words = " ".join(
            f'{name}="{value}"' if " " in value else f"{name}={value}" for name, value in arguments.items()
        )
        page = Beside(host, wanted.port)
        try:
            code: int = await face.run(host, first=f"/plan-vacation {words}", is_kept=False, page=page.open)
        finally:
            await page.close()
    if wanted.is_kept:
        _tell_log(wanted)
    else:
        note("all of it lay in a folder of the demo's own, which is gone now; --folder FOLDER keeps it")
    return code or OK


async def _unattended(travel: Any, wanted: Wanted) -> int:
    """Let the policy plan the journey, and show what happens. Raises `Stop` if anything did not happen."""
    began, told_of = time.monotonic(), _Telling(wanted)
    script = travel.Script(told_of.answered)
    async with _opened(travel, wanted, script) as host:
        for rule in travel.RULES:
            host.permissions.grant("allow", rule, chat="")
        arguments: dict[str, str] = await travel.prepare(host)
        words = " ".join(f"{name}={value}" for name, value in arguments.items())
        _print(wanted, f"You: /plan-vacation {words}")
        telling = asyncio.create_task(told_of.watch(host.board))
        try:
            await host.say(prompt=travel.PROMPT, arguments=arguments)
            await host.wait()
            await host.say(travel.AGREED)
            last = await host.wait()
        finally:
            telling.cancel()
            with suppress(asyncio.CancelledError):
                await telling
        checks: dict[str, bool] = await travel.checks(host, wanted.folder, arguments)
        seconds = time.monotonic() - began
        seen = _seen(host, script.answered) | {"text": last.text, "checks": checks, "seconds": round(seconds, 2)}
    problems = [what for what, is_so in checks.items() if not is_so]
    if wanted.as_json:
        print_json({"ok": not problems, "arguments": arguments, **seen})
        return FAILED if problems else OK
    _sum_up(seen, wanted.place)
    if wanted.is_kept:
        _tell_log(wanted)
    if problems:
        raise Stop(FAILED, f"the demo went wrong: not so: {'; '.join(problems)}")
    return OK


@asynccontextmanager
async def _opened(travel: Any, wanted: Wanted, answers: Prepared | None = None) -> AsyncGenerator[Host]:
    """Open a host for the three servers, with the demo model and a home of its own."""
    folder = wanted.folder
    async with travel.servers(folder) as entries:
        options = HostOptions(home=folder / "home", cwd=folder, model="demo", servers=entries)
        if answers is not None:
            options["policy"], options["answers"] = "headless", answers
        async with Host(Configuration(), options) as host:
            yield host


class _Telling:
    """Prints what happens, in line mode's words; the long messages of the prompt are told by its name alone."""

    def __init__(self, wanted: Wanted) -> None:
        self.board: Board | None = None
        self._wanted, self._spoken = wanted, Spoken()
        self._number = 0
        self._is_attached = False

    def answered(self, line: str) -> None:
        """Print what the policy answered, behind all that happened before it."""
        self.news()
        _print(self._wanted, line)

    async def watch(self, board: Board) -> None:
        """Print what changes, until the journey is over."""
        self.board = board
        try:
            async for _ in board.watch():
                self.news()
        finally:
            self.news()

    def news(self) -> None:
        """Print what changed since the last time."""
        if self.board is None:
            return
        batch = self.board.since(self._number)
        self._number = batch.number
        self._attached(batch.events)
        said = [each for each in batch.events if not (isinstance(each.item, Message) and each.item.prompt)]
        for line in self._spoken.lines(Batch(0, said)):
            _print(self._wanted, line)

    def _attached(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event.item, Message) and event.item.attached and not self._is_attached:
                self._is_attached = True
                _print(self._wanted, f"Attached: {', '.join(each.uri for each in event.item.attached)}.")


def _print(wanted: Wanted, line: str) -> None:
    if not wanted.as_json:
        print(line, flush=True)


def _seen(host: Host, answered: list[str]) -> dict[str, Any]:
    """Describe what happened."""
    calls = sorted(host.board.all(Call), key=lambda each: int(each.id.rpartition(":")[2]))
    servers = {each.name: {"transport": each.transport, "protocol": each.protocol} for each in host.board.all(Server)}
    told = [{"server": each.server, "tool": each.tool, "state": each.state, "seconds": each.seconds} for each in calls]
    return {"servers": servers, "calls": told, "answered": answered}


def _tell_log(wanted: Wanted) -> None:
    """Say where the log of a demo is that was kept."""
    tell_try(f"SPLICE_HOME={shlex.quote(as_typed(wanted.folder / 'home'))} splice host log", sys.stdout)


def _sum_up(seen: dict[str, Any], place: str) -> None:
    """Print the end: what was checked, and how it went."""
    out = sys.stdout
    print()
    for what, is_so in seen["checks"].items():
        print(f"  {painted('✓', 'green', out) if is_so else painted('✕', 'red', out)} {what}")
    failed = sum(each["state"] != "done" for each in seen["calls"])
    counts = f"{len(seen['servers'])} servers, {len(seen['calls'])} calls, {len(seen['answered'])} answered by policy"
    print(f"Trip planned: {counts}, {failed} failed, {seen['seconds']:.1f} s. No AI took part.")
    tell_try("splice demo --web", out)
    tell_try(f"splice list {place}/weather.py", out)
