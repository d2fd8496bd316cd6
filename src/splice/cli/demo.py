"""`splice demo`: a server, a client, both eras, stdio and HTTP, before your eyes."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from splice import HTTPServer, MCPError, StdioServer
from splice.cli.asking import has_terminal
from splice.cli.colours import console
from splice.cli.demo_tour import Seen, Tour
from splice.cli.outcomes import FAILED, OK, Stop
from splice.cli.reaching import told
from splice.cli.targets import this_splice
from splice.cli.text import as_json

SERVER = Path(__file__).with_name("demo_server.py")
URL = re.compile(r"http://\S+")
READY_SECONDS = 20.0
GRACE_SECONDS = 5.0


@click.command()
@click.option("--json", "as_json_", is_flag=True, help="Print what was seen as JSON, and nothing else.")
@click.option("--no-input", is_flag=True, help="Answer the server's question without asking you.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def command(as_json_: bool, no_input: bool) -> int:
    """Show what Splice does: a server and a client talk over stdio and HTTP, in both eras.

    On a terminal the server's question is put to you; elsewhere the demo answers it, and ends by itself.
    """
    out = console(quiet=as_json_)
    interactive = has_terminal() and sys.stdout.isatty() and not no_input and not as_json_
    try:
        seen = asyncio.run(_demo(out, interactive=interactive))
    except MCPError as error:
        raise Stop(FAILED, f"the demo failed: {told(error)}") from error
    if as_json_:
        print(as_json({"runs": seen}))
    problems = [f"{each.transport}, {each.version}: {problem}" for each in seen for problem in each.problems()]
    if problems:
        raise Stop(FAILED, f"the demo went wrong: {'; '.join(problems)}")
    _farewell(out)
    return OK


async def _demo(out: Console, *, interactive: bool) -> list[Seen]:
    child = StdioServer(*this_splice("run", str(SERVER)))
    _heading(out, f"Splice {version('splice')}", "One small server; every protocol version, every transport.")
    _heading(out, "\nA modern client over stdio", "it starts the server as a child process")
    seen = [await Tour("stdio", out, interactive=interactive).walk(child, "modern")]
    _heading(out, "\nThe same functions, seen by other clients", "each of them made all of these calls")
    _row(out, seen[0], "modern")
    quiet = console(quiet=True)
    seen.append(await Tour("stdio", quiet, interactive=False).walk(child, "legacy"))
    _row(out, seen[-1], "legacy")
    async with _http_server() as url:
        for era in ("modern", "legacy"):
            seen.append(await Tour("HTTP", quiet, interactive=False).walk(HTTPServer(url), era))
            _row(out, seen[-1], era)
    return seen


@asynccontextmanager
async def _http_server() -> AsyncGenerator[str]:
    """Run the demo server as a web server for the length of the block; yields its URL."""
    command_line = this_splice("run", str(SERVER), "--http", "--port", "0")
    process = await asyncio.create_subprocess_exec(
        *command_line,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield await _url_of(process)
    finally:
        await _end(process)


async def _url_of(process: asyncio.subprocess.Process) -> str:
    """Read where the server listens from what it says."""
    said: list[str] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            while process.stderr is not None and (line := await process.stderr.readline()):
                said.append(line.decode(errors="replace").strip())
                if found := URL.search(said[-1]):
                    return found[0]
    raise Stop(FAILED, f"the demo's web server does not start: {' '.join(said) or 'it says nothing'}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _heading(out: Console, title: str, note: str) -> None:
    out.print(Text.assemble((title, "bold cyan"), f"  {note}"))


def _row(out: Console, seen: Seen, era: str) -> None:
    mark = ("✗", "bold red") if list(seen.problems()) else ("✓", "bold green")
    spoken = f"{seen.transport:<5}  {seen.version} ({era})" if seen.version else seen.transport
    counts = (
        f"  {len(seen.tools)} tools, {seen.asked} question, {seen.progress} progress reports, {seen.logs} log message"
    )
    out.print(Text.assemble("  ", mark, f" {spoken}", (f"{counts}, {seen.milliseconds} ms", "dim")))


def _farewell(out: Console) -> None:
    typed = sys.argv[0] if Path(sys.argv[0]).name == "splice" else "python -m splice.cli"
    program = "splice" if shutil.which("splice") else typed
    server = os.path.relpath(SERVER) if SERVER.is_relative_to(Path.cwd()) else str(SERVER)
    out.print(Text("\nIt works. Now try:", "bold"))
    for words in (f"list {server}", f"call {server} price dish=cake count=3", f"run {server} --http"):
        out.print(Text(f"  {program} {words}"))
