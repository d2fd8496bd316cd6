"""Running a server as a program."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from splice import Server
from splice.server import running
from support.warm import warm_python


def test_a_transport_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="'pigeon'"):
        running.run(Server("s").service, "pigeon")


def test_stdio_has_no_options() -> None:
    with pytest.raises(TypeError, match="no option host, port"):
        Server("s").run("stdio", host="x", port=1)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_listening_beyond_this_machine_needs_the_hosts_to_be_named(host: str) -> None:
    with pytest.raises(ValueError, match="allowed_hosts"):
        Server("s").run("http", host=host, port=0)


def test_a_server_serves_stdio_and_ends_at_the_end_of_input(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []

    async def serve(service: object) -> None:
        served.append(service)

    monkeypatch.setattr(running, "serve_stdio", serve)
    server = Server("s")
    server.run()
    assert served == [server.service]


async def test_it_serves_on_the_loop_that_runs_already(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[object] = []

    async def serve(service: object) -> None:
        served.append(asyncio.get_running_loop())

    monkeypatch.setattr(running, "serve_stdio", serve)
    await Server("s").run_async()
    assert served == [asyncio.get_running_loop()]
    with pytest.raises(RuntimeError, match=r"await server.run_async"):
        Server("s").run()
    assert len(served) == 1


FAILING = """
import contextlib, sys
from splice import Server

@contextlib.asynccontextmanager
async def lifespan(server):
    print("connecting")
    raise {error}("DATABASE_URL is not set")
    yield

Server("bank", lifespan=lifespan).run({options})
"""


@pytest.mark.parametrize("options", ["'stdio'", "'http', port=0"])
@pytest.mark.parametrize("error", ["ValueError", "ConnectionError"])
def test_a_lifespan_that_fails_ends_the_server_before_it_serves(options: str, error: str, tmp_path: Path) -> None:
    """It does not wait for input, either: stdin stays open."""
    program = tmp_path / "bank.py"
    program.write_text(FAILING.format(error=error, options=options))
    with subprocess.Popen([warm_python(), program], stdin=-1, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read(), process.stderr.read().decode()
        assert process.wait(10) == 1
    assert out == (b"" if "stdio" in options else b"connecting\n")
    assert "Traceback" in err
    assert f"{error}: DATABASE_URL is not set" in err
    assert f"The lifespan of bank failed: {error}: DATABASE_URL is not set" in err
    assert "Serving" not in err


def test_ctrl_c_is_no_traceback_but_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    async def serve(service: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "serve_stdio", serve)
    with pytest.raises(SystemExit) as caught:
        Server("s").run()
    assert caught.value.code == 130


def test_a_hole_among_the_standard_descriptors_is_filled() -> None:
    kept = os.dup(2)
    os.close(2)
    try:
        running._open_standard_descriptors()
        assert os.fstat(2).st_rdev == Path(os.devnull).stat().st_rdev
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def test_a_program_needs_no_web_stack_for_stdio() -> None:
    code = (
        "import sys; from splice import Server; s = Server('s'); s.add_tool(lambda: 'x', name='x'); s.run(); "
        "print([m for m in ('uvicorn', 'aiohttp', 'pydantic', 'cryptography', 'jsonschema_rs', 'click', 'rich')"
        " if m in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        capture_output=True,
        timeout=10,
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    reply, modules = ended.stdout.splitlines()
    assert b'"id":1' in reply
    assert modules == b"[]"
