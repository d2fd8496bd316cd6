"""`splice doctor`: find out whether a server works; if not, where it breaks, why, and what to do.

A ladder: each rung needs those before it, but for the lists, of which none needs another. What cannot be looked at is
not shown.
"""

import asyncio
import os
import shlex
import shutil
from pathlib import Path
from time import perf_counter
from typing import Unpack

import click

from splice import Client, ConnectionClosed, HTTPServer, MCPError, StdioServer
from splice.cli import doctor_lists, doctor_web
from splice.cli.doctor_rungs import Broken, Ladder, Rung
from splice.cli.doctor_watch import Watch
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, reach_options, told, words_of
from splice.cli.targets import Target, take_target
from splice.host.text import as_json, safe
from splice.transports.stdio.client import GRACE_SECONDS
from splice.types import Response

_SHOWN = 200
"""How many characters of a command are shown."""

_STDOUT = "a server's stdout is for messages only, one on a line: let it print to stderr"


@click.command(epilog=TARGET_HELP)
@words_of("TARGET")
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], **reach: Unpack[Reach]) -> int:
    """Find out whether a server works, and if not, where it breaks and what to do.

    A line for each thing looked at, with the time it took: from the address, or the program, to each list that the
    server has. The exit code is 1 if something is broken; warnings are none.
    """
    target, rest = take_target(words, tail, reach["header"], debug=reach["debug"])
    if rest:
        raise Stop(USAGE, f"one server at a time, please; what is {rest[0]!r}?")
    ladder = Ladder(shows=not reach["as_json"])
    with ladder.listening():
        asyncio.run(_climb(target, ladder, reach))
    broken = [rung.name for rung in ladder.broken]
    if reach["as_json"]:
        print(as_json({"target": target.name, "ok": not broken, "rungs": ladder.rungs}))
    else:
        warned = any(rung.status == "warning" for rung in ladder.rungs)
        well = "It works, with warnings." if warned else "All is well."
        print(f"\nIt breaks at: {', '.join(broken)}." if broken else f"\n{well}")
    return FAILED if broken else OK


async def _climb(target: Target, ladder: Ladder, reach: Reach) -> None:
    watch, seconds = Watch(target.place), reach["timeout"]
    client = Client(watch, protocol=reach["protocol"], timeout=seconds)
    try:
        if isinstance(target.place, HTTPServer):
            await doctor_web.climb(target.place, ladder, seconds)
        else:
            _find(target.place, ladder)
        await _open(client, watch, target, ladder, reach["protocol"])
    except Broken:
        return
    try:
        _introduce(client, ladder)
        await doctor_lists.climb(client, watch, ladder, seconds)
        with ladder.rung("ping", "the server answers other requests, so it should answer this one too") as rung:
            await client.ping()
            rung.text = "answered"
    except Broken:
        pass
    finally:
        _weigh_output(watch, ladder)
        await _close(client, target, ladder)


def _find(child: StdioServer, ladder: Ladder) -> None:
    """Look for the program. Raises `Broken`."""
    program = child.command[0]
    with ladder.rung("program") as rung:
        if os.sep in program or "/" in program:
            path = Path(child.cwd or ".", program)
            found = str(path) if os.access(path, os.X_OK) and path.is_file() else None
            if found is None and path.is_file():
                raise Broken(f"{program} may not be run", f"name its program too: python {program}; or chmod +x it")
        else:
            found = shutil.which(program, path=(child.env or {}).get("PATH"))
        if found is None:
            raise Broken(f"there is no program {program!r}", "install it, or name it with its whole path")
        rung.text = f"{found}, called as: {shlex.join(child.command)[:_SHOWN]}"


async def _open(client: Client, watch: Watch, target: Target, ladder: Ladder, protocol: str) -> None:
    """Connect and come to terms. Raises `Broken`."""
    is_child = isinstance(target.place, StdioServer)
    rung, began, broken = Rung("opening"), perf_counter(), None
    try:
        await client.open()
        rung.text = watch.era()
    except (MCPError, OSError, ValueError) as error:
        why = told(error).removeprefix(safe(target.place.name)).lstrip(" :")
        said = target.stderr.about(why) if is_child else ""
        broken = Broken(
            f"{why}\nthe last it wrote to stderr:\n{said}" if said else why, _advice(watch, target, protocol)
        )
        rung.break_(broken)
    rung.seconds = perf_counter() - began
    if is_child:
        for again, seconds in enumerate(watch.starts):
            text = "started again, as it did not bear the first request" if again else "the program started"
            ladder.put(Rung("start", text=text, seconds=seconds))
    if broken is not None:
        _weigh_output(watch, ladder)
    ladder.put(rung)
    if broken is not None:
        raise broken


def _advice(watch: Watch, target: Target, protocol: str) -> str:
    """Say what to do about a server that one cannot come to terms with."""
    if any(isinstance(asked.outcome, Response) for asked in watch.asked[-1:]):
        if protocol != "auto":
            asked = f"what --protocol {protocol} asks for"
            return f"the server does not speak {asked}; without it, they come to terms by themselves"
        return "it answers, but client and server do not agree: try --protocol legacy, or update the server"
    if not isinstance(target.place, StdioServer):
        return "the server's own log should say why; --protocol legacy tries it another way"
    by_itself = f"run it by itself: {shlex.join(target.place.command)}"
    if any(isinstance(asked.outcome, ConnectionClosed) for asked in watch.asked[-1:]):
        return f"it should stay as long as its stdin is open; to see why it does not, {by_itself}"
    return f"{by_itself}; an MCP server on stdio then waits for messages in silence. Is an argument missing?"


def _introduce(client: Client, ladder: Ladder) -> None:
    """Say who the server is, and what it says it can do."""
    server = Rung("server", text=f"{client.server_info.name} {client.server_info.version}".strip())
    if not client.server_info.name:
        server.text = "it does not say its name"
    ladder.put(Rung("version", text=client.protocol_version))
    ladder.put(server)
    known = {name: getattr(client.capabilities, name) for name in client.capabilities.__struct_fields__}
    declared = [name for name, value in known.items() if value is not None]
    able = Rung("capabilities", text=", ".join(declared))
    if not declared:
        able.text = "none"
        able.warn("it declares nothing, so clients ask it for nothing", advice="declare what it has, such as `tools`")
    ladder.put(able)


def _weigh_output(watch: Watch, ladder: Ladder) -> None:
    """Warn of what a child wrote to stdout that is not a message."""
    if watch.link is not None and (excuse := watch.link.excuse().lstrip("; ")):
        rung = Rung("stdout", text=excuse)
        rung.warn(*(ladder.junk or [excuse]), advice=_STDOUT)
        ladder.put(rung)


async def _close(client: Client, target: Target, ladder: Ladder) -> None:
    """Leave, and say whether a child ended by itself once its stdin was closed."""
    with ladder.rung("close") as rung:
        began = perf_counter()
        await client.close()
        if not isinstance(target.place, StdioServer):
            rung.text = "left"
        elif perf_counter() - began < GRACE_SECONDS:
            rung.text = "the server ended by itself"
        else:
            rung.text = "the server was ended"
            told_how = f"it did not end within {GRACE_SECONDS:g} s after its stdin was closed, so it got SIGTERM"
            rung.warn(told_how, advice="end when stdin ends; what the server should do last may be lost otherwise")
