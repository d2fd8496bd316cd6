"""Any history of calls, orders, cancellations and closings, over everything that carries them.

A hypothesis machine holds several clients of one server, whose requests have the same ids. Each call does what other
calls order it to, so replies, progress and cancellations meet in every order. Whatever happens: each call has exactly
one outcome, its own; progress only grows and ends with the call; no client hears of another's; nothing is left over.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from splice import Client, StdioServer
from splice.errors import ConnectionClosed
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN, covers
from splice.types import ElicitParams
from support import behaving_server
from support.joined import Joined
from support.listening import listening
from support.waiting import settle
from support.warm import warm_python

T = TypeVar("T")


class Call:
    """One call of `hold`: all that its caller sees of it."""

    def __init__(self, name: str, client: "Party") -> None:
        self.name = name
        self.party = client
        self.heard: list[float] = []
        self.heard_at_the_end: list[float] | None = None
        self.task: asyncio.Task[Any] = asyncio.create_task(client.hold(self))
        self.task.add_done_callback(self._ended)
        self.expected: str | type[BaseException] | None = None
        """What it must end with: a text, or an exception."""

    def _ended(self, _: asyncio.Task[Any]) -> None:
        self.heard_at_the_end = list(self.heard)

    @property
    def is_open(self) -> bool:
        return self.expected is None

    def check(self) -> None:
        """See that what happened to it is what had to."""
        assert self.task.done()
        if self.expected is asyncio.CancelledError:
            assert self.task.cancelled()
        elif isinstance(self.expected, str):
            assert self.task.result().text == self.expected
        else:
            assert isinstance(self.task.exception(), ConnectionClosed)


class Party:
    """One client."""

    def __init__(self, number: int, target: Any, version: str) -> None:
        self.number = number
        self.client = Client(target, protocol=version, timeout=8, on_elicit=self.answer)
        self.is_open = True

    def answer(self, _: ElicitParams) -> dict[str, str]:
        """Say who we are, when asked."""
        return {"name": f"party {self.number}"}

    async def hold(self, call: Call) -> Any:
        return await self.client.call_tool(
            "hold", {"name": call.name}, progress=lambda value, *_: call.heard.append(value)
        )

    async def becomes(self, name: str, state: str) -> None:
        while (await self.client.call_tool("state", {"name": name})).text != state:
            await settle(1)


class Histories(RuleBasedStateMachine):
    """The machine. Subclasses say what is between clients and server, and what the clients speak."""

    medium: ClassVar[str]
    versions: ClassVar[tuple[str, ...]]

    which = st.integers(0, 10**6)
    value = st.integers(-2, 9)

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.calls: list[Call] = []
        self.parties: list[Party] = []
        self.run(self._open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(10):
                return await work

        return self.loop.run_until_complete(bounded())

    async def _open(self) -> None:
        target: Any
        if self.medium == "stdio":
            target = StdioServer(warm_python(), str(Path(behaving_server.__file__)))
        elif self.medium == "http":
            target = await self.stack.enter_async_context(listening(behaving_server.build().http_app()))
        elif self.medium == "joined":
            target = Joined(behaving_server.build())
        else:
            target = behaving_server.build()
        for number, version in enumerate(self.versions):
            party = Party(number, target, version)
            await party.client.open()
            self.stack.push_async_callback(party.client.close)
            self.parties.append(party)

    @property
    def present(self) -> list[Party]:
        return [party for party in self.parties if party.is_open]

    def pick_call(self, which: int) -> Call | None:
        running = [call for call in self.calls if call.is_open]
        return running[which % len(running)] if running else None

    def manager_of(self, call: Call, which: int) -> Client:
        """Choose who gives an order: anybody who reaches the same server."""
        able = [call.party] if self.medium == "stdio" else self.present
        return able[which % len(able)].client

    # What may happen.

    @precondition(lambda self: self.present)
    @rule(which=which)
    def start(self, which: int) -> None:
        party = self.present[which % len(self.present)]

        async def begin() -> None:
            call = Call(f"call {len(self.calls)}", party)
            self.calls.append(call)
            await party.becomes(call.name, "running")

        self.run(begin())

    @rule(which=which, value=value)
    def report(self, which: int, value: int) -> None:
        if call := self.pick_call(which):
            order = {"name": call.name, "order": "progress", "value": value}
            self.run(self.manager_of(call, which).call_tool("order", order))

    @rule(which=which, value=value)
    def reply(self, which: int, value: int) -> None:
        if call := self.pick_call(which):
            order = {"name": call.name, "order": "reply", "value": value}
            call.expected = f"{call.name}: {float(value)}"
            self.run(self.manager_of(call, which).call_tool("order", order))

    @rule(which=which)
    def cancel(self, which: int) -> None:
        if call := self.pick_call(which):
            call.expected = asyncio.CancelledError
            call.task.cancel()
            self.run(settle(1))

    @precondition(lambda self: self.present)
    @rule(which=which, number=st.integers())
    def echo(self, which: int, number: int) -> None:
        party = self.present[which % len(self.present)]
        assert self.run(party.client.call_tool("echo", {"text": str(number)})).text == str(number)

    @precondition(lambda self: self.present)
    @rule(which=which)
    def ask(self, which: int) -> None:
        party = self.present[which % len(self.present)]
        if covers(ElicitParams.span, party.client.protocol_version):
            assert self.run(party.client.call_tool("introduce")).text == f"party {party.number}, 30"

    @precondition(lambda self: len(self.present) > 1 and len(self.calls) > 2)
    @rule(which=which)
    def leave(self, which: int) -> None:
        party = self.present[which % len(self.present)]
        party.is_open = False
        for call in self.calls:
            if call.party is party and call.is_open:
                call.expected = ConnectionClosed
            elif call.party is party and isinstance(call.expected, str):
                self.run(asyncio.wait([call.task]))
        self.run(party.client.close())

    # What must hold.

    @invariant()
    def progress_grows_and_ends_with_the_call(self) -> None:
        for call in self.calls:
            assert call.heard == sorted(set(call.heard))
            assert call.heard_at_the_end in (None, call.heard)

    def teardown(self) -> None:
        try:
            self.run(self._finish())
        finally:
            self.loop.run_until_complete(self.stack.aclose())
            self.loop.run_until_complete(settle())
            left = asyncio.all_tasks(self.loop)
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()
        assert not left

    async def _finish(self) -> None:
        for call in self.calls:
            if call.is_open:
                call.expected = f"{call.name}: 0.0"
                order = {"name": call.name, "order": "reply"}
                await self.manager_of(call, 0).call_tool("order", order)
        if self.calls:
            await asyncio.wait([call.task for call in self.calls])
        await settle()
        for call in self.calls:
            call.check()
        self.progress_grows_and_ends_with_the_call()


PAIRS = {
    "legacy": (LATEST_HANDSHAKE, LATEST_HANDSHAKE),
    "modern": (LATEST_MODERN, LATEST_MODERN),
    "both": (LATEST_HANDSHAKE, LATEST_MODERN),
}
EXAMPLES = {"memory": (15, 30), "joined": (15, 30), "http": (4, 25), "stdio": (2, 30)}
"""How many histories, and how long they may be."""


@pytest.mark.requirement(5, 7, 13, 28, 107, 108, 109, 133, 135, 246, 247, 248, 250, 254, 256, 258)
@pytest.mark.parametrize("speaking", PAIRS)
@pytest.mark.parametrize("medium", EXAMPLES)
def test_whatever_happens_each_call_has_its_own_one_outcome(medium: str, speaking: str) -> None:
    count, length = EXAMPLES[medium]
    machine = type("Machine", (Histories,), {"medium": medium, "versions": PAIRS[speaking]})
    how = settings(
        max_examples=count,
        stateful_step_count=length,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=how)
