"""Plays a page of documentation: runs its snippets in order, in a directory of its own.

    ```python                       runs; all such blocks of a page share one namespace
    <!-- file: server.py -->        the next block is saved under that name (and must compile) instead
    ```console                      `$ ` lines are commands; the lines below one must appear in what it prints, in
                                    order; a line `...` stands for anything; `# exit 1` at the end names the exit code;
                                    `&` at the end runs it beside the others until the page is done
    <!-- not run: reason -->        the next block is skipped

Port 8000 in a page stands for a port that is free. `.venv/bin/` stands for where this Python is installed.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.warm import warm_python

BLOCK = re.compile(
    r"(?:^[ ]*<!--\s*(?P<mark>file|not run):\s*(?P<value>.+?)\s*-->\s*\n+)?"
    r"^(?P<indent>[ ]*)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
EXIT = re.compile(r"\s+# exit (\d)$")
WAIT_SECONDS = 60.0
READY_SECONDS = 15.0

RUN_BLOCKS = """
import sys
namespace = {"__name__": "snippet"}
for number, path in enumerate(sys.argv[1:], 1):
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), namespace)
"""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    code: str
    line: int
    file: str | None
    skipped: bool


@dataclass
class Stage:
    """Where a page is played: a directory, and the processes left running in it."""

    page: Path
    directory: Path
    port: int
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.directory / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        plain = {"COLUMNS": "120", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}  # what comes first is shown first
        home = str(self.directory / ".splice")  # what the host keeps is not that of whoever runs the tests
        return {**os.environ, "PATH": path, "PYTHONPATH": str(self.directory), "SPLICE_HOME": home, **plain}

    def strike(self) -> None:
        """Stop what still runs."""
        for process in self.running:
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.running:
            process.wait(timeout=WAIT_SECONDS)


def blocks(page: Path) -> Iterator[Block]:
    """Find the fenced blocks of a page, in order."""
    text = page.read_text()
    for match in BLOCK.finditer(text):
        indent = match["indent"]
        code = "".join(line.removeprefix(indent) for line in match["code"].splitlines(keepends=True))
        yield Block(
            language=match["language"],
            code=code,
            line=text.count("\n", 0, match.start("code")) + 1,
            file=match["value"] if match["mark"] == "file" else None,
            skipped=match["mark"] == "not run",
        )


def play(page: Path, directory: Path) -> None:
    """Run a page. Raises `AssertionError` naming the page and the line of the block that failed."""
    stage = Stage(page, directory, free_port())
    install(directory / ".venv" / "bin")
    program: list[Path] = []
    ran = 0
    try:
        for block in blocks(page):
            code = re.sub(r"\b8000\b", str(stage.port), block.code)
            if block.skipped:
                continue
            if block.file is not None:
                save(stage, block, code)
            elif block.language == "python":
                program.append(keep(stage, block, code))
            elif block.language == "console":
                ran = run_python(stage, program, ran)
                run_console(stage, block, code)
        run_python(stage, program, ran)
    finally:
        stage.strike()


def install(folder: Path) -> None:
    """Put there what is installed beside this Python; what starts a Python with Splice is warm."""
    folder.mkdir(parents=True)
    found = {
        each.name: each for each in (*Path(sys.executable).parent.iterdir(), *Path(warm_python()).parent.iterdir())
    }
    for name, path in found.items():
        (folder / name).symlink_to(path)


def save(stage: Stage, block: Block, code: str) -> None:
    """Write the file a block stands for."""
    assert block.file is not None
    path = stage.directory / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    if path.suffix == ".py":
        compile(code, f"{stage.page}:{block.line}", "exec")


def keep(stage: Stage, block: Block, code: str) -> Path:
    """Write a block where a traceback shows the page's own line numbers."""
    folder = stage.directory / ".snippets"
    folder.mkdir(exist_ok=True)
    path = folder / f"{stage.page.stem}_line_{block.line}.py"
    path.write_text("\n" * (block.line - 1) + code)
    return path


def run_python(stage: Stage, program: list[Path], ran: int) -> int:
    """Run the blocks so far, if there are new ones: a page is one program, so again from the first."""
    if len(program) > ran:
        done = run(stage, [warm_python(), "-c", RUN_BLOCKS, *map(str, program)])
        assert done.returncode == 0, f"{stage.page}: a snippet failed\n{done.stdout}"
    return len(program)


def run_console(stage: Stage, block: Block, code: str) -> None:
    """Run the commands of a block and compare what they print."""
    for command, shown in commands(code):
        where = f"{stage.page}:{block.line}: {command}"
        if command.endswith("&"):
            start(stage, command.removesuffix("&"))
            continue
        expected = int(match[1]) if (match := EXIT.search(command)) else 0
        done = run(stage, ["bash", "-c", command])
        assert done.returncode == expected, f"{where}\nexit code {done.returncode}\n{done.stdout}"
        missing = first_missing(shown, done.stdout)
        assert missing is None, f"{where}\ndoes not print {missing!r} where the page says so, but:\n{done.stdout}"


def commands(code: str) -> Iterator[tuple[str, list[str]]]:
    """Split a console block into commands, each with the output shown below it."""
    command = ""
    shown: list[str] = []
    for line in code.splitlines():
        if command.endswith("\\"):
            command = command.removesuffix("\\") + line.removeprefix("> ").strip()
        elif line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line.removeprefix("$ ").strip(), []
        else:
            shown.append(line)
    if command:
        yield command, shown


def first_missing(shown: list[str], printed: str) -> str | None:
    """Find the first line shown on the page that was not printed in its turn."""
    lines = iter([line.strip() for line in printed.splitlines()])
    for line in shown:
        wanted = line.strip()
        if wanted in {"", "..."}:
            continue
        pattern = re.compile(re.escape(wanted).replace(r"\.\.\.", ".*"))
        if not any(pattern.search(each) for each in lines):
            return wanted
    return None


def run(stage: Stage, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with nothing on its standard input."""
    return subprocess.run(
        command,
        cwd=stage.directory,
        env=stage.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def start(stage: Stage, command: str) -> None:
    """Start a command that stays, and wait until its port answers."""
    process = subprocess.Popen(
        shlex.split(command),
        cwd=stage.directory,
        env=stage.environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    stage.running.append(process)
    deadline = time.monotonic() + READY_SECONDS
    while not answers(stage.port):
        assert process.poll() is None, f"{stage.page}: {command} ended at once"
        assert time.monotonic() < deadline, f"{stage.page}: {command} does not answer at port {stage.port}"
        time.sleep(0.05)


def answers(port: int) -> bool:
    """Tell whether something listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """Find a port nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
