"""Runs statements on a PostgreSQL database, each in a session of its own.

A session is opened for one statement and closed behind it, so that nothing of it stays: no setting, no lock, no
prepared statement. What reads does so in a transaction that PostgreSQL keeps read-only and that is always rolled back.
Statements are sent by the extended protocol, which takes one: there is nothing to end the transaction with first.

https://www.postgresql.org/docs/current/sql-set-transaction.html
https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, LiteralString
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection, conninfo, errors, sql

from splice import ToolError
from splice.servers.postgres.loading import Plain
from splice.servers.postgres.rows import Page, Shelf
from splice.servers.postgres.session import Session

log = logging.getLogger("splice.servers.postgres")

MAX_SESSIONS = 4
"""How many sessions there are at once; further calls wait."""

MAX_STATEMENT = 1_000_000
"""How many characters a statement may have."""

LOCK_SECONDS = 3.0
"""How long a statement waits for a lock of others."""

CONNECT_SECONDS = 10
"""How long a session may take to open."""

GRACE_SECONDS = 5.0
"""How long after its time limit a statement is given up on, if PostgreSQL does not end it."""

MAX_REASON = 1_000
"""How many characters of an error are shown."""

_POWERS: LiteralString = """SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM pg_roles
WHERE (rolsuper OR rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files',
'pg_signal_backend', 'pg_checkpoint', 'pg_maintain', 'pg_create_subscription'))
AND pg_has_role(current_user, oid, 'MEMBER')"""
"""The roles that the session's is, or may become, whose powers a read-only transaction does not stop."""

_PRELUDE: LiteralString = f"""SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true),
set_config('idle_in_transaction_session_timeout', %s, true),
CASE WHEN current_setting('server_version_num')::int >= 140000 AND version() LIKE '%%linux%%'
THEN set_config('client_connection_check_interval', %s, true) END,
set_config('search_path', coalesce(%s, current_setting('search_path')), true), ({_POWERS})"""
"""What is asked first in each transaction. It takes the snapshot after which none can be made writable any more."""

ABSENCE_SECONDS = 1.0
"""How soon PostgreSQL notices that this server is gone in the middle of a statement, where it can (14 on Linux)."""


class Database:
    """A PostgreSQL database. Raises `ValueError` if it cannot be reached, or the role may do too much."""

    def __init__(self, dsn: str, *, schemas: Sequence[str], seconds: float, allow_superuser: bool) -> None:
        try:
            parts = conninfo.conninfo_to_dict(dsn)
        except psycopg.Error:  # its text repeats what was given
            raise ValueError("--dsn is not a connection string of PostgreSQL's") from None
        self._secrets = [str(parts[name]) for name in ("password", "sslpassword") if parts.get(name)]
        parts.setdefault("connect_timeout", CONNECT_SECONDS)
        parts.setdefault("application_name", "splice")
        parts["client_encoding"] = "UTF8"
        self._dsn = conninfo.make_conninfo("", **parts)
        self._schemas, self._seconds, self._allows = tuple(schemas), seconds, allow_superuser
        self._plain = Plain()
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        try:
            with psycopg.connect(self._dsn) as connection:
                powers = connection.execute(_POWERS).fetchone()
        except psycopg.Error as error:
            raise ValueError(f"the database cannot be used: {self._shown(error)}") from None
        if refusal := self._refusal(powers):
            raise ValueError(f"{refusal}: give the server a role of its own, or say --allow-superuser")
        if powers and powers[0]:
            log.warning("the role has the powers of %s: whoever calls may reach beyond the database", powers[0])

    async def read(self, statement: str, limit: int) -> Page:
        """Run a statement that only reads, and return up to `limit` rows of it. Raises `ToolError`."""
        shelf = Shelf(limit)
        async with self._session("READ ONLY") as cursor:
            stream: Any = cursor.stream(_checked(statement))
            async with aclosing(stream):
                async for row in stream:
                    if not shelf.put([column.name for column in cursor.description or ()], row):
                        break
        return shelf.page

    async def write(self, statement: str, limit: int) -> tuple[int, str, Page]:
        """Run a statement that changes something. Returns how many rows, what it says it did, and what it returned.

        Raises `ToolError`.
        """
        async with self._session("READ WRITE") as cursor:
            await cursor.execute(_checked(statement), prepare=True)
            shelf = Shelf(limit)
            if cursor.description is not None:
                names = [column.name for column in cursor.description]
                async for row in cursor:
                    if not shelf.put(names, row):
                        break
            return max(cursor.rowcount, 0), cursor.statusmessage or "", shelf.page

    async def look(self, query: LiteralString, *values: Any) -> list[dict[str, Any]]:
        """Run a query of ours, with what a client sent bound to it. Raises `ToolError`."""
        async with self._session("READ ONLY") as cursor:
            await cursor.execute(query, values)
            names = [column.name for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]

    @asynccontextmanager
    async def _session(self, access: str) -> AsyncGenerator[psycopg.AsyncCursor[Any]]:
        """Open a session in a transaction; what was written is kept if the block succeeds."""
        room = self._rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_SESSIONS))
        try:
            async with asyncio.timeout(self._seconds + GRACE_SECONDS + CONNECT_SECONDS), room:
                connection = await Session.connect(self._dsn, autocommit=True, context=self._plain)
                connection.end = self._end
                try:
                    async with connection.cursor() as cursor:
                        await self._begin(cursor, access)
                        yield cursor
                        if access == "READ WRITE":
                            await cursor.execute("COMMIT")
                finally:
                    await connection.close()  # which rolls back
        except TimeoutError:
            raise ToolError("The database does not answer in time. Try again later, or ask for less") from None
        except psycopg.Error as error:
            raise ToolError(self._explained(error)) from None

    async def _end(self, pid: int) -> None:
        """End another session of the same role. Raises `psycopg.Error`."""
        async with await AsyncConnection.connect(self._dsn, autocommit=True) as connection:
            await connection.execute("SELECT pg_terminate_backend(%s)", [pid])

    async def _begin(self, cursor: psycopg.AsyncCursor[Any], access: str) -> None:
        await cursor.execute("BEGIN READ ONLY" if access == "READ ONLY" else "BEGIN READ WRITE")
        idle = self._seconds + GRACE_SECONDS
        limits = [f"{seconds * 1000:.0f}" for seconds in (self._seconds, LOCK_SECONDS, idle, ABSENCE_SECONDS)]
        path = ", ".join(sql.Identifier(name).as_string() for name in self._schemas) or None
        await cursor.execute(_PRELUDE, [*limits, path])
        row = await cursor.fetchone()
        if refusal := self._refusal(row and row[-1:]):
            raise ToolError(f"The database is not asked: {refusal}")

    def _refusal(self, powers: Sequence[Any] | None) -> str | None:
        """Say what is wrong with a role that reaches beyond its database; None if nothing is, or all is allowed."""
        if self._allows or not powers or not powers[0]:
            return None
        return f"the role has the powers of {powers[0]}, which a read-only transaction does not take away"

    def _explained(self, error: psycopg.Error) -> str:
        """Say why a statement failed, to a model."""
        match error:
            case errors.ReadOnlySqlTransaction():
                return "Error: only statements that read are allowed here"
            case errors.QueryCanceled():
                return f"Error: the statement took longer than {self._seconds:g} s and was stopped. Ask for less"
            case errors.LockNotAvailable():
                return f"Error: another session has held a lock for {LOCK_SECONDS:g} s. Try again"
            case psycopg.OperationalError() if error.sqlstate is None:
                log.warning("the database cannot be used: %s", self._shown(error))
                return "The database cannot be reached. Whoever runs this server finds the reason in its log"
            case psycopg.ProgrammingError() if error.sqlstate is None:  # of the driver: there is nothing to show
                return "Error: the statement returns no rows, so it is none for this tool"
            case _:
                return f"Database error: {self._shown(error)}"

    def _shown(self, error: psycopg.Error) -> str:
        """Give an error's text without secrets and control characters."""
        told = error.diag
        text = str(error) if told.message_primary is None else told.message_primary
        text += f" (hint: {told.message_hint})" if told.message_hint else ""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return "".join(each if each.isprintable() else " " for each in text)[:MAX_REASON]


def _checked(statement: str) -> bytes:
    """Refuse what no statement can be. Raises `ToolError`."""
    if len(statement) > MAX_STATEMENT or "\x00" in statement or not statement.strip():
        raise ToolError(f"Error: a statement has 1 to {MAX_STATEMENT} characters, none of which is NUL")
    try:
        return statement.encode()
    except UnicodeEncodeError:
        raise ToolError("Error: the statement is not Unicode") from None
