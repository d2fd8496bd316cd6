"""`splice run --dev`: a server that is being written, watched while it runs.

Where the client's answer comes with a request of its own, the handler that asked runs again from its start, and what it
did before it asked is done twice. That is seldom noticed in time: here each such line is warned of, whichever version
the client speaks. What stands in `Context.once` is not done twice. Beside that, asyncio's debug mode is on.
"""

import asyncio
import inspect
import linecache
import logging
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial, wraps
from types import FrameType
from typing import Any, cast

from msgspec.structs import replace

from splice import Answer, Call, Context, InputRequired, Server
from splice.cli import effects
from splice.host.text import one_line
from splice.server.running import serving
from splice.server.service import ChapterService

log = logging.getLogger("splice.dev")

WARNING = """%s %s before it asks the client something:
  File "%s", line %d, in %s
    %s
  The handler runs again from its start when the answer comes (in some protocol versions), and does this twice.
  Ask first, or put it into `await ctx.once(...)`."""


class Run:
    """One run of a handler, and its effects so far."""

    def __init__(self, task: asyncio.Task[Any]) -> None:
        self._task = task
        self.effects: dict[effects.Line, str] = {}

    def note(self, event: str, what: str, frames: Iterable[FrameType]) -> None:
        """Keep an effect that happens now, in these frames, if a line of the user's has it."""
        line = effects.line_of(frames, event)
        if line is effects.NOWHERE:
            # The task may not wait for its thread yet. It will when the loop comes to this, and goes on only after it.
            coroutine = self._task.get_coro()
            self._task.get_loop().call_soon_threadsafe(lambda: self.note(event, what, effects.waiting(coroutine)))
        elif line is not None:
            self.effects.setdefault(line, what)


_run: ContextVar[Run | None] = ContextVar("run", default=None)
"""The run that the code belongs to, in its tasks and threads too; None: effects do not matter."""


class Watch:
    """The middleware next to the handlers. It warns of each line once for each handler."""

    def __init__(self) -> None:
        self._told: set[tuple[str, effects.Line]] = set()

    async def __call__(self, call: Call, proceed: Answer) -> Any:
        """Let a request be answered, and hear of its effects and questions."""
        if not call.row.may_ask:
            return await proceed(call)
        task, era = cast("asyncio.Task[Any]", asyncio.current_task()), call.era
        run, name = Run(task), one_line(f"{call.row.name} {call.row.name_in(call.params)}")
        task.set_name(name)  # asyncio shows it when a handler blocks the event loop
        # Many URIs may have one handler: a template's.
        warn = partial(self._warn, name if call.row.named_by == "name" else call.row.name, name, run)
        call.era = cast("Any", _Asking(era, warn))
        try:
            with _current(run):
                result = await proceed(call)
        finally:
            call.era = era
        if isinstance(result, InputRequired):
            warn()
        return result

    def _warn(self, handler: str, name: str, run: Run) -> None:
        for line, what in tuple(run.effects.items()):  # threads may add to them
            if (handler, line) not in self._told:
                self._told.add((handler, line))
                source = linecache.getline(line.file, line.number).strip()
                log.warning(WARNING, name, what, line.file, line.number, line.function, source)


class _Asking:
    """An era that says when a client has to be asked: what lacks an answer passes here, in all versions."""

    def __init__(self, era: Any, tell: Callable[[], None]) -> None:
        self._era = era
        self._tell = tell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._era, name)

    def suspend(self, *asked: Any) -> None:
        """Warn, and do what the version wants."""
        self._tell()
        self._era.suspend(*asked)


def watch() -> None:
    """Begin to see effects, in the whole process and until it ends. To be called before the server is loaded."""
    sys.addaudithook(_hear)
    # Its frame is not on the stack of the tasks and threads that it starts; what they inherit is the context.
    cast("Any", Context).once = _unwatched(Context.once)


def run(server: Server, transport: str, **options: Any) -> None:
    """Serve as `Server.run` does, and warn.

    On asyncio's own event loop: it has a debug mode, and its connections can be seen, as those of others cannot.
    """
    served = server.service
    home = replace(served.home, middleware=(*served.home.middleware, Watch()))
    server.service = ChapterService(home)
    server.service.routes, server.service.store = served.routes, served.store
    with asyncio.Runner(debug=True) as runner:
        runner.run(serving(server.service, transport, **options))


def _hear(event: str, arguments: effects.Arguments) -> None:
    """Note an effect. Never raises: that would forbid it."""
    with suppress(Exception):
        if event == effects.DATABASE:
            _follow(arguments[0])
        elif (run := _run.get()) is not None and (what := effects.effect_of(event, arguments)) is not None:
            run.note(event, what, effects.outwards(inspect.currentframe()))


def _follow(connection: Any) -> None:
    """Hear of the statements of a connection to a database, from the next step of its thread on: it is not open yet."""

    def opened(*_: Any) -> None:
        with suppress(Exception):
            connection.set_trace_callback(_hear_statement)
            sys.setprofile(None)

    if sys.getprofile() is None:  # else a profiler is at work
        sys.setprofile(opened)


def _hear_statement(sql: str) -> None:
    if (run := _run.get()) is not None and (what := effects.statement_of(sql)) is not None:
        run.note(effects.DATABASE, what, effects.outwards(inspect.currentframe()))


@contextmanager
def _current(run: Run | None) -> Generator[None]:
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


def _unwatched(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let what a method does be no effect."""

    @wraps(method)
    async def unwatched(*given: Any, **options: Any) -> Any:
        with _current(None):
            return await method(*given, **options)

    return unwatched
