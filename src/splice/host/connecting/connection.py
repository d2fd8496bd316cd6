"""The connection to one server: started when it is needed, shown on the board, started again after a crash.

What it offered last time is known before it is started. While it runs its lists are kept as they are now.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from splice import Change, Client, ConnectionClosed, HTTPRefused, HTTPServer, MCPError, TransportError, __version__
from splice.auth import AuthorizationFailed, OAuth
from splice.client.lives import State
from splice.client.targets import AnyTarget, resolve
from splice.host import items
from splice.host.board import Board
from splice.host.config.entries import Entry
from splice.host.config.variables import Ask, expanded, secrets_in
from splice.host.connecting.clients import login_of, place_of, questions_of, refusal_of
from splice.host.connecting.hooks import Hooks, Unavailable
from splice.host.connecting.listing import KINDS, listed, numbers_of, set_level
from splice.host.connecting.manifest import Manifest, Manifests
from splice.host.connecting.output import Output
from splice.host.connecting.subscriptions import Subscriptions
from splice.host.connecting.wire import Watched
from splice.host.places import as_typed
from splice.host.text import one_line

MAX_STARTS = 5
"""How often a server may fail within `WINDOW_SECONDS`; then only `restart` starts it again."""

WINDOW_SECONDS = 60.0

DEBOUNCE_SECONDS, MAX_PAUSE_SECONDS, PATIENCE = 0.1, 30.0, 10
"""How long to wait for more changes before lists are asked for again: so many times as long as they took."""

PING_SECONDS = 5.0
"""How long a server that is suspected to be gone may take to answer."""

_QUOTE = "; the last it wrote to stderr"


class Surroundings(Struct):
    """What all connections of a host share."""

    board: Board
    hooks: Hooks
    manifests: Manifests
    ask: Ask | None = None
    """Asks for the value of an input of a configuration file."""


class Connection:
    """One server. Everything here belongs to one event loop."""

    def __init__(self, entry: Entry, around: Surroundings, *, hue: int = 1, target: AnyTarget | None = None) -> None:
        self.entry = entry
        self.output = Output(entry.name, around.board)
        """What it writes."""
        self.manifest = None if entry.disabled or target is not None else around.manifests.load(entry.fingerprint)
        """What it offers, or did last time; None: that is not known."""
        self.subscriptions = Subscriptions(partial(around.hooks.updated, entry.name), self.output.note)
        self._around, self._target = around, target
        self._is_on, self._waiting = not entry.disabled, 0
        self._client: Client | None = None
        self._life = 0
        """Counts the starts, so that what an old client says is not taken for news."""
        self._starting: asyncio.Task[Client] | None = None
        self._failures: deque[float] = deque(maxlen=MAX_STARTS)
        self._stale, self._tasks = set[str](), set[asyncio.Task[Any]]()
        self._listing, self._took = asyncio.Lock(), 0.0
        self.relisting: asyncio.Task[None] | None = None  # asks for lists that changed, or did so last
        self._begin(hue)

    # Using it.

    @property
    def running(self) -> Client | None:
        """The client, if the server is running."""
        return self._client

    @property
    def state(self) -> items.ServerState:
        """What it is doing."""
        return self._item.state

    async def client(self) -> Client:
        """Return a client that is open; starts the server if it is not running. Raises `Unavailable`.

        Many may wait for one start. When all who wait are cancelled, so is the start.
        """
        if not self._is_on:
            raise Unavailable(f"{self.entry.name} is switched off")
        if self._client is not None and self._client.state == "lost":  # the news of it is on its way
            self._crashed(self._client, None)
        while self._starting is not None and self._starting.cancelling():
            await asyncio.wait((self._starting,))
        if self._starting is None and self._client is not None:
            return self._client
        if self._starting is None:
            self._starting = self._in_background(self._start())
            self._starting.add_done_callback(self._started)
        starting, self._waiting = self._starting, self._waiting + 1
        try:
            await asyncio.wait((starting,))
        finally:
            self._waiting -= 1
            if not self._waiting:
                starting.cancel()
        if starting.cancelled():
            raise Unavailable(f"{self.entry.name} was stopped while it started")
        error = starting.exception()
        if error is not None:  # many may wait, and each raises one of his own
            raise Unavailable(*error.args if isinstance(error, Unavailable) else (self._item.word,)) from error
        return starting.result()

    async def restart(self) -> None:
        """Stop it if it is running, and start it, however often it failed. Raises `Unavailable`."""
        await self._end()
        self._failures.clear()
        await self.client()

    async def stop(self) -> None:
        """Stop it. It is started again when it is needed."""
        was = self._client is not None or self._starting is not None
        await self._end()
        if was or self.state in ("crashed", "failed"):
            self._rest()
        if was:
            self._record("stop")

    def switch(self, on: bool) -> None:
        """Let it be used, or not; one that is running is stopped."""
        self._is_on = on
        self._failures.clear()
        if not on or self.state == "off":
            self._rest()
        if not on:
            self._in_background(self._end())

    async def suspect(self) -> None:
        """Find out whether a server behind a URL is still there, after a request to it failed."""
        if (client := self._client) is None:
            return
        try:
            await client.ping(timeout=PING_SECONDS)
        except MCPError as error:  # any but these is an answer
            if client is self._client and isinstance(error, TransportError) and not isinstance(error, HTTPRefused):
                self._crashed(client, error)

    async def log_in(self, browse: Callable[[str], object] | None = None) -> None:
        """Let the user log in with a browser, then start it. `browse` opens an address. Raises `Unavailable`."""
        if not self.entry.url:
            raise Unavailable(f"{self.entry.name} is a program, which needs no login")
        await self._check_trust()
        await self._end()
        self._show("login", "waits for you to log in, in the browser")
        try:
            entry = await expanded(self.entry, self._around.ask)
            self.output.hide(secrets_in(self.entry, entry))
            place = HTTPServer(entry.url, headers=entry.headers, auth=OAuth(**login_of(entry, browse)))
            async with Client(place, name="splice-host"):
                self._record("login")
        except asyncio.CancelledError:
            self._show("login", "you did not log in")
            raise
        except (MCPError, ValueError, OSError) as error:
            word = f"the login failed: {self._told(error)}"
            self._show("login", word)
            raise Unavailable(f"{self.entry.name}: {word}") from error
        await self.restart()

    # Starting.

    async def _start(self) -> Client:
        """Start the server and ask for its lists. Raises `Unavailable`, which the board has been told of."""
        if self.entry.problem:
            raise self._given_up("failed", self.entry.problem)
        now = time.monotonic()
        if len(self._failures) == MAX_STARTS and now - self._failures[0] < WINDOW_SECONDS:
            last = self._item.word.partition(". It is ")[0]
            why = f"it failed {MAX_STARTS} times within a minute; restart it to try again. The last time: {last}"
            raise self._given_up("failed", why)
        await self._check_trust()
        self._show("starting")
        self.output.begin()
        self._life += 1
        try:
            client = await (await self._made()).open()
        except (MCPError, ValueError, TypeError, OSError) as error:
            state, word = refusal_of(self.entry, error, has_worked=self.manifest is not None)
            raise self._given_up(state, word or self._told(error), counts=state != "login") from error
        try:
            await self._open(client)
        except BaseException as error:
            has_left = self._client is not client
            if not has_left:
                self._client = None
                self._life += 1
            await client.close()
            if has_left and isinstance(error, MCPError):
                raise Unavailable(f"{self.entry.name}: {self._item.word}") from error
            if isinstance(error, MCPError | TimeoutError):
                why = self._told(error) or "it did not say in time what it offers"
                is_login = isinstance(error, AuthorizationFailed)
                raise self._given_up("login" if is_login else "crashed", why, counts=True) from error
            raise
        self._record("start", seconds=round(time.monotonic() - now, 3), protocol=client.protocol_version)
        return client

    async def _check_trust(self) -> None:
        """Ask for trust in what a stranger may have written. Raises `Unavailable`."""
        if not self.entry.needs_trust:
            return
        self._show("untrusted", "waits for you to trust its command")
        if not await self._around.hooks.trusts(self.entry):
            raise self._given_up("untrusted", "you do not trust its command, so it is not started")

    async def _made(self) -> Client:
        """Make a client, not yet open. Raises `ValueError` and `TypeError`."""
        entry, life = self.entry, self._life
        target = self._target
        if target is None:
            entry = await expanded(entry, self._around.ask)
            self.output.hide(secrets_in(self.entry, entry))
            target = place_of(entry, self.output.stderr, partial(self._wants_login, life))
        return Client(
            Watched(resolve(target), self.output.wire),
            **questions_of(entry, self._around.hooks, self.output.hide),
            name="splice-host",
            version=__version__,
            protocol=entry.options.protocol,
            timeout=entry.options.timeout,
            on_log=self.output.log,
            on_change=partial(self._changed, life),
            on_state=partial(self._became, life),
            restart=False,
        )

    async def _open(self, client: Client) -> None:
        """Take a client that has just been opened into use. Raises `MCPError` when the server leaves meanwhile."""
        self._client, self._stale = client, set[str]()
        await set_level(client, self.entry.options.log_level, self.output.note)
        async with self._listing, asyncio.timeout(4 * self.entry.options.timeout):
            manifest = await listed(client, Manifest(), KINDS, self.output.note)
            await self._around.hooks.prepare(self.entry.name, manifest)
        if self._client is not client:  # it left in the meantime, and the board knows
            raise ConnectionClosed(self._item.word)
        self._learn(manifest)
        self._show("ready")
        await self.subscriptions.renew(client)

    def _started(self, starting: asyncio.Task[Client]) -> None:
        """Take note that a start is over, before those who wait for it do."""
        self._starting = None
        error = None if starting.cancelled() else starting.exception()
        if starting.cancelled():
            self._rest()
        elif error is not None and not isinstance(error, Unavailable):
            self._given_up("failed", f"unexpected {type(error).__name__}: {self._told(error)}", counts=True)

    def _given_up(self, state: items.ServerState, word: str, *, counts: bool = False) -> Unavailable:
        if counts:
            self._failures.append(time.monotonic())
        last = self.output.last_words() if state in ("failed", "crashed") else []
        more = ". It is tried again when it is needed" if state == "crashed" else ""
        self._show(state, f"{word}{more}", last_words=last)
        self._record("fail", state=state, why=word)
        return Unavailable(f"{self.entry.name}: {word}")

    # What the server does by itself.

    def _became(self, life: int, state: State, reason: MCPError | None) -> None:
        if life != self._life or self._client is None:
            return
        if state == "lost":
            self._crashed(self._client, reason)
        elif state == "open" and self.state != "ready":
            self._show("ready")

    def _crashed(self, client: Client, reason: MCPError | None) -> None:
        self._failures.append(time.monotonic())
        self._client = None
        self._life += 1
        why = self._told(reason) if reason is not None else "it ended"
        self._show("crashed", f"{why}. It is started again when it is needed", last_words=self.output.last_words())
        self._record("crash", why=why)
        self._in_background(client.close())

    def _wants_login(self, life: int) -> None:
        if life == self._life and self._client is not None:
            self._show("login", "its login has ended, or is not enough: log in again")

    def _changed(self, life: int, change: Change) -> None:
        """Take note that a list, or a resource, changed; lists are asked for again soon, once for many changes."""
        if life != self._life:
            return
        if change.kind == "resource":
            self._around.hooks.updated(self.entry.name, change.uri or "")
        elif self._client is not None:
            if not self._stale:
                self.relisting = self._in_background(self._refetch(self._client))
            self._stale.add(change.kind)

    async def _refetch(self, client: Client) -> None:
        await asyncio.sleep(min(max(DEBOUNCE_SECONDS, PATIENCE * self._took), MAX_PAUSE_SECONDS))
        began, kinds, self._stale = time.monotonic(), self._stale, set[str]()
        try:
            async with self._listing, asyncio.timeout(4 * self.entry.options.timeout):
                manifest = await listed(client, self.manifest or Manifest(), kinds, self.output.note)
                await self._around.hooks.prepare(self.entry.name, manifest)
                if client is self._client and manifest != self.manifest:
                    self._learn(manifest)
        except (MCPError, TimeoutError) as error:
            self.output.note(f"Its lists changed, and could not be asked for: {self._told(error)}")
        finally:
            self._took = time.monotonic() - began

    def _learn(self, manifest: Manifest) -> None:
        """Take what it offers, tell the host, and keep it for the next time."""
        before, self.manifest = self.manifest, manifest
        self._put(**numbers_of(manifest), is_remembered=False)
        if self._target is None and manifest != before:
            try:
                self._around.manifests.save(self.entry.fingerprint, manifest)
            except OSError as error:
                self.output.note(f"What it offers could not be kept for the next time: {error.strerror}")
        self._around.hooks.heard(self.entry.name, manifest)

    # Ending.

    async def _end(self) -> None:
        """Stop whatever is under way, and wait until that is done."""
        client, self._client, self._stale = self._client, None, set[str]()
        self._life += 1
        if self.relisting is not None:
            self.relisting.cancel()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait((self._starting,))
        if client is not None:
            await client.close()
        self.output.close()

    async def close(self) -> None:
        """Stop it for good, with all that still ends."""
        await self.stop()
        while others := self._tasks - {asyncio.current_task()}:
            await asyncio.wait(others)

    def _in_background(self, work: Awaitable[Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # The board.

    def _begin(self, hue: int) -> None:
        entry = self.entry
        state: items.ServerState = "failed" if entry.problem else "asleep" if self._is_on else "off"
        self._item = items.Server(
            id=f"server:{entry.name}",
            name=entry.name,
            state=state,
            word=entry.problem or ("" if self._is_on else "it is switched off in its file"),
            hue=hue,
            transport=entry.transport if self._target is None else "memory",
            runs=entry.runs,
            source="" if entry.source is None else as_typed(entry.source),
            since=time.time(),
            is_remembered=self.manifest is not None,
        )
        self._put(**({} if self.manifest is None else numbers_of(self.manifest)))

    def _show(self, state: items.ServerState, word: str = "", **facts: Any) -> None:
        since = self._item.since if state == self._item.state else time.time()
        self._put(state=state, word=word, since=since, **{"last_words": [], **facts})

    def _rest(self) -> None:
        state: items.ServerState = "off" if not self._is_on else "failed" if self.entry.problem else "asleep"
        word = "you switched it off" if not self._is_on else self.entry.problem
        self._show(state, word, is_remembered=self.manifest is not None)

    def _put(self, **facts: Any) -> None:
        self._item = replace(self._around.board.get(self._item.id, items.Server) or self._item, **facts)
        self._around.board.put(self._item)

    def _told(self, error: BaseException) -> str:
        """Say what went wrong in one line; the end of stderr has a place of its own."""
        return one_line(self.output.blotted(str(error).partition(_QUOTE)[0]))[:1_000]

    def _record(self, kind: str, **facts: Any) -> None:
        self._around.hooks.record(kind, self.entry.name, **facts)
