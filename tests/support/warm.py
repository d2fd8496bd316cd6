"""A Python that is warm: `warm_python()` is the path of a program that is used as `sys.executable` is.

To start an interpreter and import Splice takes a tenth of a second of CPU time, and hundreds of tests need a process
with pipes of its own where nothing depends on how it starts. Here one process has imported Splice and waits. The
program hands it its arguments, directory, environment and standard streams; it forks, and the fork runs the script,
`-m module` or `-c code` as `python` would. The program passes signals on, and ends as the fork ends; when it is killed,
so is the fork. Any other option starts a cold Python.

Tests of starts, of signals, of closed streams and of how a process ends take `sys.executable`.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import io
import marshal
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from pathlib import Path
from typing import Any, NamedTuple

STARTER = """#!{python} -IS
import _signal, _socket, marshal, os, sys
def cold():
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
words = [*{words!r}, *sys.argv[1:]]
if not words or words[0][:1] == "-" and words[0] not in ("-m", "-c"):
    cold()
link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
link.connect({address!r})
job = marshal.dumps((words, os.getcwd(), dict(os.environ)))
streams = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2))
link.sendmsg([len(job).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
link.sendall(job)
fork = int.from_bytes(link.recv(4), "big")
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(number, lambda number, _: os.kill(fork, number))
for number in (0, 1, 2):
    os.close(number)
status = os.waitstatus_to_exitcode(int.from_bytes(link.recv(4), "big"))
if status < 0:
    if -status != _signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""

USED = (
    *("splice", "splice.server.running", "splice.client", "splice.types", "splice.transports.stdio.server"),
    *("splice.cli.entry", "splice.cli.run", "splice.cli.call", "splice.cli.list", "splice.transports.http.app"),
    *("splice.transports.http.link", "uvicorn", "asyncio", "logging", "subprocess"),
)
"""What has been imported before a program begins."""


class Job(NamedTuple):
    """What a Python was started with."""

    words: list[str]
    directory: str
    environment: dict[str, str]


@functools.cache
def warm_python() -> str:
    """Return the path of the program, for as long as this process lives."""
    folder = tempfile.mkdtemp(prefix="warm-")
    for name, words in (("python", []), ("splice", ["-m", "splice.cli"])):
        path = Path(folder, name)
        path.write_text(STARTER.format(python=sys.executable, words=words, address=f"{folder}/socket"))
        path.chmod(0o700)
    command = [sys.executable, __file__, folder]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    atexit.register(process.communicate)
    assert process.stdout is not None
    assert process.stdout.readline() == b"warm\n"
    return f"{folder}/python"


class Warm:
    """Waits for programs, and forks for each."""

    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._forks: dict[int, socket.socket] = {}
        self._ended, ended = socket.socketpair()
        ended.setblocking(False)
        signal.set_wakeup_fd(ended.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._hear = selectors.DefaultSelector()
        for file in (0, self._listener, self._ended):
            self._hear.register(file, selectors.EVENT_READ)
        self._kept = ended

    def wait(self) -> Job | None:
        """Wait; returns a job in each fork, and None when nobody needs this process any more."""
        while True:
            for key, _ in self._hear.select():
                if key.fileobj == 0:
                    for fork in self._forks:
                        os.kill(fork, signal.SIGKILL)
                    return None
                if key.fileobj is self._listener:
                    if (job := self._fork()) is not None:
                        return job
                elif key.fileobj is self._ended:
                    self._ended.recv(4096)
                    self._reap()
                elif key.data in self._forks:  # its program was killed
                    os.kill(key.data, signal.SIGKILL)
                    self._hear.unregister(key.fileobj)

    def _fork(self) -> Job | None:
        link, _ = self._listener.accept()
        streams: list[int] = []
        size, job = 1, b""
        with contextlib.suppress(OSError):
            head, streams, _, _ = socket.recv_fds(link, 4, 3)
            size = int.from_bytes(head, "big")
            job = link.recv(size, socket.MSG_WAITALL)
        if len(streams) < 3 or len(job) < size:  # the program was killed
            for each in streams:
                os.close(each)
            link.close()
            return None
        fork = os.fork()
        if not fork:
            self._become(streams)
            return Job(*marshal.loads(job))
        for each in streams:
            os.close(each)
        with contextlib.suppress(OSError):  # the program was killed: its end of the link says so in a moment
            link.sendall(fork.to_bytes(4, "big"))
        self._forks[fork] = link
        self._hear.register(link, selectors.EVENT_READ, fork)
        return None

    def _become(self, streams: list[int]) -> None:
        """Let go of all that is not the program's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._hear.close()
        for each in (self._listener, self._ended, self._kept, *self._forks.values()):
            each.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, max(streams) + 1)

    def _reap(self) -> None:
        while self._forks:
            fork, status = os.waitpid(-1, os.WNOHANG)
            if not fork:
                return
            link = self._forks.pop(fork)
            if link in [key.fileobj for key in self._hear.get_map().values()]:
                self._hear.unregister(link)
            with contextlib.suppress(OSError):  # the program was killed
                link.sendall(status.to_bytes(4, "big"))
            link.close()


def run(job: Job) -> None:
    """Run a program as `python` does."""
    os.chdir(job.directory)
    os.environ.clear()
    os.environ.update(job.environment)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.path[:0] = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"), "utf-8")
    out = os.fdopen(1, "wb", 0 if at_once else -1)
    sys.stdout = io.TextIOWrapper(out, "utf-8", line_buffering=out.isatty(), write_through=at_once)
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), "utf-8", "backslashreplace", write_through=True)
    first, *rest = job.words
    if first == "-m":
        sys.argv = rest
        sys.path.insert(0, job.directory)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    source, name = (rest.pop(0), "<string>") if first == "-c" else (Path(first).read_bytes(), first)
    sys.argv = [first, *rest]
    sys.path.insert(0, "" if first == "-c" else str(Path(first).resolve().parent))
    main: Any = types.ModuleType("__main__")
    if first != "-c":
        main.__file__ = first
    sys.modules["__main__"] = main
    exec(compile(source, name, "exec"), main.__dict__)


def leave(main: Any, job: Job) -> None:
    """Run a program to its end, and end: to take down all that was imported would copy it first, fork by fork."""
    status: Any = None
    try:
        main(job)
    except SystemExit as error:
        status = error.code
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as Python does before it ends
    atexit._run_exitfuncs()
    if status is not None and not isinstance(status, int):
        sys.stderr.write(f"{status}\n")
        status = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError):
            stream.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    folder = sys.argv[1]
    warm = Warm(f"{folder}/socket")
    sys.path.pop(0)
    for each in USED:
        importlib.import_module(each)
    sys.executable = f"{folder}/python"
    gc.collect()
    gc.freeze()
    os.write(1, b"warm\n")
    job = warm.wait()
    del warm
    if job is None:
        shutil.rmtree(folder)
    else:
        leave(run, job)
