"""The host under load, one measurement per process: prints its numbers as one line of JSON.

python bench/host.py prepare HOME       20 servers with 500 tools, as if they had been used before
python bench/host.py turn HOME          from the start of the process until the model gets a message and the tools
python bench/host.py chatter HOME       a call during which a server writes 10,000 log messages
python bench/host.py log HOME           pages of an activity log of 10,000 records, told in words
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from splice import Context, Server
from splice.host.asked import Json
from splice.host.config.reading import read
from splice.host.connecting.manifest import Manifest, Manifests
from splice.host.host import Host
from splice.host.items import Server as Shown
from splice.host.items import Tool as Offered
from splice.host.models.base import ModelEvent, Stop, Text
from splice.host.models.script import ScriptModel
from splice.host.places import Places
from splice.host.telling import told
from splice.types import CreateMessageParams, Tool

SERVERS, TOOLS, MESSAGES, RECORDS, PAGE = 20, 500, 10_000, 10_000, 200
VERBS = ("list", "create", "update", "delete", "archive", "move", "copy", "share", "search", "export", "invite")


def cpu() -> float:
    """CPU seconds of this process so far, those of its start and imports too."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def tools(server: int) -> list[Tool]:
    """Make the tools of a server, as large as those of real ones."""
    made: list[Tool] = []
    for number in range(TOOLS // SERVERS):
        verb, name = VERBS[number % len(VERBS)], f"item_{number}"
        schema: dict[str, Json] = {
            "type": "object",
            "properties": {
                "workspace": {"type": "string", "description": "The id of the workspace, as list_workspaces tells it"},
                "name": {"type": "string", "description": f"The name to {verb} it under", "maxLength": 200},
                "labels": {"type": "array", "items": {"type": "string"}, "description": "Labels that it must have"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            },
            "required": ["workspace", "name"],
        }
        about = f"Use this to {verb} {name} of service {server}. It returns the {name} with all its fields, as JSON."
        made.append(Tool(name=f"{verb}_{name}", description=about, input_schema=schema))
    return made


class Waiting(ScriptModel):
    """Notes when it is asked for the first time."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked: asyncio.Future[tuple[float, float, int]] = asyncio.get_running_loop().create_future()

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Answer with a word."""
        self.asked.set_result((cpu(), time.perf_counter(), len(params.tools or ())))
        yield Text("So.")
        yield Stop("endTurn")


def prepare(home: Path) -> dict[str, float]:
    """Write the file of servers, and what they offered last time; take a turn, so that definitions are pinned."""
    home.mkdir(parents=True, exist_ok=True)
    entries = {f"service{number}": {"command": "false", "args": [str(number)]} for number in range(SERVERS)}
    path = home / "servers.json"
    path.write_text(json.dumps({"mcpServers": entries}))
    kept = Manifests(Places.under(home).state / "manifests")
    for number, entry in enumerate(read(path, "given", cwd=home).entries):
        kept.save(entry.fingerprint, Manifest(tools=tools(number), protocol="2026-07-28"))
    return asyncio.run(turn(home))


async def turn(home: Path) -> dict[str, float]:
    """Open the host and say something."""
    imported, began = cpu(), time.perf_counter()
    model = Waiting()
    async with Host.from_config("servers.json", home=home, cwd=home, model=model) as host:
        opened = cpu()
        await host.say("Which items are new?")
        asked, at, given = await model.asked
        await host.wait()
        started = [each for each in host.board.all(Shown) if each.state != "asleep"]
        return {
            "CPU ms": (asked - imported) * 1e3,
            "wall ms": (at - began) * 1e3,
            "import CPU ms": imported * 1e3,
            "open CPU ms": (opened - imported) * 1e3,
            "processes": len(started),
            "tools": len(host.board.all(Offered)),
            "given": given,
        }


async def chatter(home: Path) -> dict[str, float]:
    """Let a server write log messages as fast as it can, and look for how long the event loop is busy at most.

    Counted in CPU time: other programs of this machine make a face wait too, but they are not the host's fault.
    """
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from host import chatty; chatty().run()"
    servers: dict[str, Any] = {"chatty": {"command": sys.executable, "args": ["-c", program]}}
    model = ScriptModel([{"call": [{"name": "chatty__chat"}]}, {"say": "So."}])
    options: Any = {"policy": "headless", "servers": servers, "model": model}
    async with Host.from_config(home=home, cwd=home, **options) as host:
        host.permissions.grant("allow", "chatty/*", chat="")
        await host.start_server("chatty")
        latest = 0.0

        async def look() -> None:
            nonlocal latest
            while True:
                before = cpu()
                await asyncio.sleep(0.001)
                latest = max(latest, cpu() - before)

        looking = asyncio.ensure_future(look())
        used, began = cpu(), time.perf_counter()
        await host.say("chat")
        message = await host.wait()
        looking.cancel()
        assert message.text == "So.", message
        return {
            "CPU ms": (cpu() - used) * 1e3,
            "wall ms": (time.perf_counter() - began) * 1e3,
            "busy ms": latest * 1e3,
            "messages": host.output("chatty")[-1].number,
            "changes": host.board.number,
        }


def chatty() -> Server:
    """Make the server that writes."""
    server = Server("chatty")

    @server.tool
    async def chat(ctx: Context) -> str:
        """Write log messages."""
        for number in range(MESSAGES):
            await ctx.info(f"message {number} of many, with a few words in it")
        return "done"

    return server


async def log(home: Path) -> dict[str, float]:
    """Page through a long log, from its end to its beginning, and search it."""
    async with Host.from_config(home=home / "log", cwd=home) as host:
        for number in range(RECORDS):
            host.activity.record("call", server=f"service{number % 20}", tool=f"tool_{number}", why="a rule", seconds=1)
        walls: list[float] = []
        before: int | None = None
        used = cpu()
        while True:
            began = time.perf_counter()
            page = host.activity.read(before=before, count=PAGE)
            words = [told(record.kind, record.facts, record.turn) for record in page]
            walls.append(time.perf_counter() - began)
            if not words:
                break
            before = min(record.number for record in page)
        paged = cpu() - used
        began = time.perf_counter()
        found = host.activity.read(words="tool_17", count=PAGE)
        assert found
        return {
            "CPU ms": paged * 1e3,
            "wall ms": max(walls) * 1e3,
            "search ms": (time.perf_counter() - began) * 1e3,
            "pages": len(walls) - 1,
        }


if __name__ == "__main__":
    kind, folder = sys.argv[1], Path(sys.argv[2])
    work = {"turn": turn, "chatter": chatter, "log": log}
    print(json.dumps(prepare(folder) if kind == "prepare" else asyncio.run(work[kind](folder))))
