"""Two tools that start something which goes on by itself, until they are called again: messages, and changes.

In a session each has a task of its own, which ends with the session. Since 2026-07-28 nothing is sent outside of a
request: messages come on the stream of the call, and changes on the streams that clients keep open to listen, so that
the task of all streams ends with the last of them. The lifespan of the server ends what is left.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, get_args

from splice import Answer, Call, Context, Server, Session, ToolError
from splice.servers.everything.hints import CHANGES
from splice.servers.everything.sessions import session_here
from splice.servers.sessions import when_ended
from splice.types import LoggingLevel, LogParams, NoteParams, Notification

LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""From the least severe one on."""

MAX_LOOPS = 1000
"""How many tasks may go on at once, for all clients together."""

UPDATED = "notifications/resources/updated"


class Updated(NoteParams, kw_only=True):
    """The params that tell of a change of one resource."""

    uri: str


class Loops:
    """The tasks that go on by themselves, by whom they are for."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        """Seconds between two messages."""
        self.listened: Counter[str] = Counter()
        """By URI: how many open streams listen to it."""
        self._tasks: dict[tuple[str, Session | None], asyncio.Task[None]] = {}

    def toggle(self, what: str, session: Session | None, tick: Callable[[], bool]) -> bool:
        """Stop a task, or start one that calls `tick` at the pace while it returns True. Tells whether it started.

        Raises `ToolError` where too many go on already.
        """
        key = (what, session)
        if (task := self._tasks.pop(key, None)) is not None and not task.done():
            task.cancel()
            return False
        if len(self._tasks) >= MAX_LOOPS:
            raise ToolError("Too many clients have toggled something on: toggle something off, or try again later")
        if session is not None:
            when_ended(session, self._let_go)
        self._tasks[key] = task = asyncio.create_task(self._run(tick))
        task.add_done_callback(lambda done: self._tasks.pop(key) if self._tasks.get(key) is done else None)
        return True

    @asynccontextmanager
    async def life(self, _: Server) -> AsyncGenerator[None]:
        """Stop all of them when the server stops, and wait until they have."""
        try:
            yield
        finally:
            await self._stop()

    async def _stop(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def watch(self, call: Call, proceed: Answer) -> Any:
        """Middleware: know which resources the open streams listen to, while they do."""
        wanted: list[str] = []
        if call.row.name == "subscriptions/listen":
            wanted = list(dict.fromkeys(call.params.notifications.resource_subscriptions or ()))
        self.listened.update(wanted)
        try:
            return await proceed(call)
        finally:
            self.listened.subtract(wanted)
            self.listened += Counter()  # forgets those that nobody listens to
            if wanted and not self.listened:
                self._let_go(None)

    async def _run(self, tick: Callable[[], bool]) -> None:
        goes_on = tick()
        while goes_on:
            await asyncio.sleep(self.pace)
            goes_on = tick()

    def _let_go(self, session: Session | None) -> None:
        for key in [key for key in self._tasks if key[1] is session]:
            self._tasks.pop(key).cancel()


def message(level: LoggingLevel) -> str:
    """Write what is logged at a level."""
    return f"{level.capitalize()}-level message"


def log_at_random(session: Session) -> bool:
    """Send a message of some level to a session that wants to hear it. Tells whether the session is still there."""
    level: LoggingLevel = secrets.choice(LEVELS)
    wanted = session.declared.log_level if session.declared is not None else None
    if wanted is not None and LEVELS.index(level) >= LEVELS.index(wanted):
        session.push(Notification("notifications/message", LogParams(level=level, data=message(level))))
    return session.ended is not None


def update_subscribed(session: Session) -> bool:
    """Tell a session that each resource it subscribed to has changed. Tells whether it is still there."""
    for uri in sorted(session.subscriptions):
        session.push(Notification(UPDATED, Updated(uri=uri)))
    return session.ended is not None


class Toggles:
    """The two tools."""

    def __init__(self, server: Server, loops: Loops) -> None:
        self._server, self._loops = server, loops

    async def toggle_simulated_logging(self, ctx: Context) -> str:
        """Start log messages of random levels, or stop them again.

        Shows logging: only messages of the level that the client chose, and above, arrive. Where there are no
        sessions, one message of each level is sent with the answer to this call instead.
        """
        session = session_here()
        if session is None:
            for level in LEVELS:
                await ctx.log(level, message(level))
            return (
                "Sent one message of each level with this call; those below the level that it asks for were left out."
            )
        if not self._loops.toggle("logging", session, lambda: log_at_random(session)):
            return "Stopped simulated logging for this session"
        return (
            f"Started simulated, random-leveled logging for this session at a {self._loops.pace:g} second pace. "
            "Client's selected logging level will be respected. If an interval elapses and the message to be sent is "
            "below the selected level, it will not be sent. Thus at higher chosen logging levels, messages should "
            "arrive further apart. "
        )

    async def toggle_subscriber_updates(self) -> str:
        """Start telling that the subscribed resources have changed, or stop it again.

        Shows subscriptions: subscribe to some resources first. Where there are no sessions, open a stream that
        listens to them; the updates end with the last such stream.
        """
        session = session_here()
        whose = "for the open streams" if session is None else "for this session"
        if session is None and not self._loops.listened:
            return "No stream listens to a resource: open one by subscriptions/listen, then call this again"
        tick = self._update_listened if session is None else lambda: update_subscribed(session)
        if not self._loops.toggle("updates", session, tick):
            return f"Stopped simulated resource updates {whose}"
        return (
            f"Started simulated resource updated notifications {whose} at a {self._loops.pace:g} second pace. Client "
            "will receive updates for any resources the it is subscribed to."
        )

    def _update_listened(self) -> bool:
        """Tell the open streams that each resource they listen to has changed. Tells whether there are any."""
        for uri in sorted(self._loops.listened):
            self._server.publish((UPDATED, uri))
        return bool(self._loops.listened)


def add(server: Server, loops: Loops) -> None:
    """Add the tools."""
    tools = Toggles(server, loops)
    for fn, title in (
        (tools.toggle_simulated_logging, "Toggle simulated logging"),
        (tools.toggle_subscriber_updates, "Toggle updates for subscribers"),
    ):
        server.add_tool(fn, name=fn.__name__.replace("_", "-"), title=title, annotations=CHANGES)
