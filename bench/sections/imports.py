"""What an import costs: CPU, memory, and how many modules beyond the standard library it loads."""

import json
from collections.abc import Iterator
from functools import partial

from bench.peers import FASTMCP, HERE, MCP, SPLICE, Peer
from bench.process import run_json
from bench.runner import Section, Settings, Step
from bench.samples import Sample

LIMIT_SECONDS = 60.0
CPU_SECONDS = "CPU s"
MODULES = "modules"

PYTHON = Peer("python", "floor: asyncio, msgspec", "python", HERE, "", "")
STATEMENTS = {
    SPLICE.name: {"server": "from splice import Server", "client": "from splice import Client"},
    MCP.name: {"server": "from mcp.server import MCPServer", "client": "from mcp import Client"},
    FASTMCP.name: {"server": "from fastmcp import FastMCP", "client": "from fastmcp import Client"},
    PYTHON.name: {"server": "import asyncio", "client": "import asyncio, msgspec"},
}
PROBE = """
import sys
STATEMENT
import json, os, time
outside = [name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names]
with open("/proc/self/statm") as fields: pages = int(fields.read().split()[1])
print(json.dumps([time.process_time(), len(outside), pages * os.sysconf("SC_PAGE_SIZE") / 1e6]))
"""


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Import the server half, then the client half, each in a new process."""
    del settings
    for half, statement in STATEMENTS[peer.name].items():
        yield f"{half} half", partial(_imported, peer, statement)


def _imported(peer: Peer, statement: str) -> Sample:
    answer = run_json([str(peer.program), "-c", PROBE.replace("STATEMENT", statement)], LIMIT_SECONDS)
    cpu, modules, rss = json.loads(answer)
    return {CPU_SECONDS: cpu, MODULES: modules, "RSS MB": rss}


IMPORTS = Section(
    name="import",
    title="Import",
    note=(
        "A new process that imports and ends; the CPU of the interpreter itself is in it. "
        "Server half: `from splice import Server`, `from mcp.server import MCPServer`, `from fastmcp import FastMCP`; "
        "client half: their `Client`. Modules: those that are not of the standard library."
    ),
    peers=(SPLICE, MCP, FASTMCP, PYTHON),
    columns=(CPU_SECONDS, MODULES, "RSS MB"),
    ratio=(CPU_SECONDS,),
    steps=steps,
)
