"""A PostgreSQL of the tests' own: in a temporary directory, reached by a socket there, gone when the block is left."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import conninfo

from interop.setup_peers import postgres_bin
from splice import Client
from splice.servers.postgres.server import make
from splice.types import CallToolResult

ADMIN, PASSWORD = "admin", "s3cret-word"
UNPRIVILEGED = ("postgres", "nobody")
"""Users that run PostgreSQL where the tests are root's: it refuses to be root."""

SECONDS = 60
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "listen_addresses": ""}


@contextmanager
def postgres(schema: Sequence[str] = (), auth: str = "scram-sha-256") -> Iterator[str]:
    """Run PostgreSQL with these statements done; yields the connection string of its superuser."""
    programs, folder = postgres_bin(), Path(tempfile.mkdtemp(prefix="splice-pg-"))
    assert programs is not None, "run tests/interop/setup_peers.py"
    (folder / "password").write_text(PASSWORD)
    as_user = _unprivileged(folder)
    data = str(folder / "data")
    settings = [f"-c{name}={value}" for name, value in (FAST | {"unix_socket_directories": str(folder)}).items()]
    try:
        initdb = [str(programs / "initdb"), "-D", data, "-U", ADMIN, f"--pwfile={folder}/password", "--no-sync"]
        _run([*as_user, *initdb, f"--auth={auth}", "--locale=C.UTF-8", "--encoding=UTF8"])
        _run(
            [
                *as_user,
                str(programs / "pg_ctl"),
                "-D",
                data,
                "-w",
                "-l",
                f"{folder}/log",
                "-o",
                " ".join(settings),
                "start",
            ]
        )
        try:
            dsn = f"host={folder} dbname=postgres user={ADMIN} password={PASSWORD}"
            with psycopg.connect(dsn, autocommit=True) as connection:
                for statement in schema:
                    connection.execute(statement.encode())
            yield dsn
        finally:
            _run([*as_user, str(programs / "pg_ctl"), "-D", data, "-w", "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder)


def _unprivileged(folder: Path) -> list[str]:
    """Hand the folder over to a user who is not root, if need be; return what runs a program as that user."""
    if os.geteuid() != 0:
        return []
    names = {each.pw_name: each for each in pwd.getpwall()}
    user = next(names[name] for name in UNPRIVILEGED if name in names)
    for path in (folder, folder / "password"):
        os.chown(path, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def _run(command: list[str]) -> None:
    """Run a program of PostgreSQL's. Its output goes to a file: what it leaves running would hold a pipe open."""
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", timeout=SECONDS, check=False
        )
        output.seek(0)
        assert done.returncode == 0, f"{command}\n{output.read().decode()}"


def of(admin: str, user: str, password: str | None = None) -> str:
    """Name the same database, for another role."""
    return conninfo.make_conninfo(admin, user=user, password=password or user)


@asynccontextmanager
async def connected(
    admin: str, user: str = "reader", protocol: str = "modern", **settings: Any
) -> AsyncIterator[Client]:
    async with Client(make(dsn=of(admin, user), **settings), protocol=protocol) as client:
        yield client


async def asked(client: Client, statement: str, tool: str = "query", **more: Any) -> CallToolResult:
    return await client.call_tool(tool, {"sql": statement, **more})
