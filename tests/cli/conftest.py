"""Runs `splice`, in this process or as one of its own."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from splice.cli import main
from support.warm import warm_python

SERVER = str(Path(__file__).with_name("shop_server.py"))
LIMIT_SECONDS = 30


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Splice = Callable[..., Done]


@pytest.fixture
def splice(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Splice:
    """Run `splice` in this process, where coverage sees it; the servers that it starts are warm."""
    monkeypatch.setattr(sys, "executable", warm_python())

    def run(*words: str) -> Done:
        capfd.readouterr()
        code = main(words)
        sys.stdout.flush()
        return Done(code, *capfd.readouterr())

    return run


def splice_process(*words: str, python: str | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run `splice` in a process of its own: warm, or by that Python."""
    settings: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": LIMIT_SECONDS} | options
    command = [python or warm_python(), "-m", "splice.cli", *words]
    done: subprocess.CompletedProcess[bytes] = subprocess.run(command, check=False, **settings)
    return done


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """Serve the shop over HTTP."""
    command = [warm_python(), "-m", "splice.cli", "run", SERVER, "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        try:
            assert found is not None, line
            yield found[0]
        finally:
            process.send_signal(signal.SIGTERM)
