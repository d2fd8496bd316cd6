"""Tells subscribers when the database changes, by whichever program.

SQLite tells that something was committed (`PRAGMA data_version`), not which table it was: who subscribed to one table
hears of every commit. The file is looked at while a stream that listens is open, or a session lasts that subscribed.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

from splice import Answer, Call, Session
from splice.servers.sessions import session_of, when_ended
from splice.servers.sqlite.database import Database

LOOK_SECONDS = 0.5
"""How often the file is looked at. Changes by this server are told at once."""

SCHEMA = "sqlite://schema"
TABLE = "sqlite://tables/{table}"

State = tuple[int, int, frozenset[str]]
"""The version of the data as one connection sees it, the version of the schema, and the names of the tables."""


class Watch:
    """Looks at a database for its server; middleware that notices who subscribes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.tell: Callable[[tuple[str, str | None]], None] = lambda _: None
        """Tells every client that wants to know: the server's `publish`."""
        self._streams = 0
        self._sessions: set[Session] = set()
        self._looking: asyncio.Task[None] | None = None
        self._now = asyncio.Event()

    async def __call__(self, call: Call, proceed: Answer) -> Any:
        """Stand around every request."""
        if call.row.name == "resources/subscribe" and _ours([call.params.uri]):
            if (session := session_of(call)) is not None:
                self._sessions.add(session)
                when_ended(session, self._sessions.discard)
                await self._begin()
        elif call.row.name == "subscriptions/listen" and _ours(call.params.notifications.resource_subscriptions or ()):
            self._streams += 1
            try:
                await self._begin()
                return await proceed(call)
            finally:
                self._streams -= 1
        return await proceed(call)

    def look_now(self) -> None:
        """Look at once: this server has written."""
        self._now.set()

    async def _begin(self) -> None:
        """Look from now on, if nobody does; what is there already is no change."""
        if self._is_looking():
            return
        connection, known = await asyncio.to_thread(self._opened)
        if self._is_looking():  # somebody else was faster
            connection.close()
            return
        self._now = asyncio.Event()
        self._looking = _loop().create_task(self._look(connection, known))
        self._looking.add_done_callback(lambda _: connection.close())

    def _is_looking(self) -> bool:
        looking = self._looking
        return looking is not None and not looking.done() and looking.get_loop() is _loop()

    def _opened(self) -> tuple[sqlite3.Connection, State]:
        connection = self._database.connect("ro")
        try:
            return connection, _state(connection)
        except BaseException:
            connection.close()
            raise

    async def _look(self, connection: sqlite3.Connection, known: State) -> None:
        while self._streams or self._sessions:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._now.wait()
            except TimeoutError:
                pass
            self._now.clear()
            try:
                found = await asyncio.to_thread(_state, connection)
            except sqlite3.Error:  # it is being written to, or replaced: next time
                continue
            if found != known:
                self._changed(known, found)
            known = found

    def _changed(self, known: State, found: State) -> None:
        if known[1:] != found[1:]:
            self.tell(("notifications/resources/updated", SCHEMA))
        for table in sorted(known[2] | found[2]):
            self.tell(("notifications/resources/updated", uri_of(table)))


def uri_of(table: str) -> str:
    """Name the resource of a table."""
    return TABLE.replace("{table}", quote(table, safe=""))


def _ours(uris: Iterable[str]) -> bool:
    return any(uri.startswith("sqlite://") for uri in uris)


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _state(connection: sqlite3.Connection) -> State:
    (data,), (schema,) = (connection.execute(f"PRAGMA {name}_version").fetchone() for name in ("data", "schema"))
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
    return data, schema, frozenset(name for (name,) in names)
