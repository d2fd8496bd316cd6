"""A child process under measurement: its CPU clock, its memory, its pipes, and its certain end."""

import os
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

from bench.peers import ROOT

START_SECONDS = 60.0
STOP_SECONDS = 3.0
PAGE = os.sysconf("SC_PAGE_SIZE")


class Failed(Exception):
    """A measurement could not be taken; the message says why, and stands in the table."""


class Child:
    """A running child with pipes for stdin and stdout; stderr goes to a file that is read when something is wrong."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self.pid = process.pid
        self._process = process
        self._errors = errors
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self.stdout, select.POLLIN | select.POLLHUP)

    def cpu(self) -> float:
        """CPU seconds of all threads so far, dead ones too. The clock's number follows from the pid on Linux."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def rss(self) -> float:
        """Resident memory in MB."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as fields:  # noqa: PTH123  -- hot path of a poll
            return int(fields.read().split()[1]) * PAGE / 1e6

    def write(self, data: bytes) -> None:
        """Write all of `data` to the child's stdin."""
        while data:
            data = data[os.write(self.stdin, data) :]

    def read(self, timeout: float = 10.0) -> bytes:
        """Read what the child has written, waiting for at least one byte."""
        if not self._poll.poll(timeout * 1000):
            raise Failed(f"no answer in {timeout:g} s; {self.complaint()}")
        data = os.read(self.stdout, 1 << 20)
        if not data:
            raise Failed(f"the process ended; {self.complaint()}")
        return data

    def complaint(self) -> str:
        """Quote the end of the child's stderr."""
        return said(self.errors())

    def errors(self) -> str:
        """All of the child's stderr so far."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def alive(self) -> bool:
        """Tell whether the child still runs."""
        return self._process.poll() is None


@contextmanager
def child(command: Sequence[str], more: Mapping[str, str] | None = None) -> Iterator[Child]:
    """Run `command` for the length of the block, then end it: close stdin, terminate, kill. `more` is environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", **(more or {})}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, cwd=ROOT
        )
        try:
            yield Child(process, errors)
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def said(errors: str) -> str:
    """Quote the line of a stderr that says most: the last that names an error, else the last."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "error:" in line] or lines or ["nothing"]
    return f"stderr: {telling[-1][:160]}"


def free_port() -> int:
    """Find a TCP port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_for_port(server: Child, port: int) -> None:
    """Wait until the child listens on `port`."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if not server.alive():
            raise Failed(f"the server ended; {server.complaint()}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise Failed(f"the server does not listen after {START_SECONDS:g} s; {server.complaint()}")


def run_json(command: Sequence[str], timeout: float) -> str:
    """Run a command to its end and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, cwd=ROOT,
            timeout=timeout, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Failed(f"not finished in {timeout:g} s") from None
    if done.returncode:
        raise Failed(f"exit code {done.returncode}; {said(done.stderr)}")
    return done.stdout
