"""The reference servers beside the official ones: their start, and the work that grows with what they look at."""

import itertools
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from bench.peers import HERE, NODE, NODE_PROGRAM, ORIGINAL, PYTHON_ORIGINALS, SPLICE, SQLITE_ORIGINAL, Peer
from bench.process import Child, Failed, child
from bench.runner import Section, Settings, Step
from bench.samples import Sample
from bench.stdio_driver import Pipes
from bench.wire import request

FILES = 20_000
COMMITS = 5_000
ENTITIES = 50_000
READS = 300
CPU_MS = "CPU ms"
WALL_MS = "wall ms"
PATIENCE = 60.0

ORIGINALS = ("everything", "filesystem", "fetch", "git", "memory", "sequential-thinking", "sqlite", "time")
"""The servers that there are twice."""


Commands: TypeAlias = Callable[..., list[str]]
"""Builds the command of a server from its name and settings."""

Jobs: TypeAlias = Mapping[str, Callable[[Commands, Path], Sample]]
"""What is measured, in words, and the measurement."""


def ours(name: str, *settings: str) -> list[str]:
    return [str(HERE), "-m", f"splice.servers.{name.replace('-', '_')}", *settings]


def theirs(name: str, *settings: str) -> list[str]:
    """Build the command of an original, wherever it is installed. Raises `Failed`."""
    if name in ("fetch", "git", "time", "sqlite"):
        program = (SQLITE_ORIGINAL if name == "sqlite" else PYTHON_ORIGINALS).program.with_name(f"mcp-server-{name}")
        command = [str(program), *settings]
    else:
        program = NODE / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
        command = [str(NODE_PROGRAM), str(program), *settings]
    if not program.exists():
        raise Failed("not installed")
    return command


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Start each server; then give three of them work over data of a size that shows."""
    command = ours if peer is SPLICE else theirs
    with TemporaryDirectory() as made:
        folder = Path(made).resolve()
        options = _options(folder)
        for name in ORIGINALS:
            yield f"start {name}", partial(_started, partial(command, name, *options.get(name, ())), folder)
        for fill, work in ((_files, FILE_WORK), (_repository, GIT_WORK), (_memory, MEMORY_WORK)):
            fill(folder, settings)
            for group, job in work.items():
                yield group, partial(job, command, folder)


def _options(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Give the settings that both of a pair take."""
    repository = folder / "start"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    return {
        "filesystem": (str(folder),),
        "git": ("--repository", str(repository)),
        "sqlite": ("--db-path", str(folder / "start.db")),
    }


def _started(command: Callable[[], list[str]], folder: Path) -> Sample:
    began = time.perf_counter()
    with child(command(), {"MEMORY_FILE_PATH": str(folder / "start.jsonl")}) as server:
        Pipes(server).open("legacy")
        return {CPU_MS: server.cpu() * 1e3, WALL_MS: (time.perf_counter() - began) * 1e3, "RSS MB": server.rss()}


class Desk:
    """A server at work: what each call costs, its own process and, by the clock, those that it starts."""

    def __init__(self, server: Child) -> None:
        self.server = server
        self._pipes = Pipes(server)
        self._pipes.open("legacy")

    def call(self, name: str, **arguments: Any) -> str:
        """Call a tool and return its text. Raises `Failed`."""
        answer = self._pipes.ask(request("tools/call", {"name": name, "arguments": arguments}, "legacy"), PATIENCE)
        result = answer.get("result", {})
        if "content" not in result or result.get("isError"):
            raise Failed(f"{name}: {json.dumps(answer)[:160]}")
        text: str = result["content"][0]["text"]
        return text

    def timed(self, job: Callable[[], object]) -> Sample:
        """Do it once to warm up, then measure."""
        job()
        cpu, began = self.server.cpu(), time.perf_counter()
        job()
        wall = time.perf_counter() - began
        return {CPU_MS: (self.server.cpu() - cpu) * 1e3, WALL_MS: wall * 1e3, "RSS MB": self.server.rss()}


def _files(folder: Path, settings: Settings) -> None:
    """Make the files: 200 in a folder, one of 40 named so that a search finds it."""
    for number in range(settings.count(FILES)):
        place = folder / "files" / f"part-{number // 200:03}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{'report' if number % 40 == 0 else 'note'}-{number}.txt").write_text(f"line {number}\n" * 20)


def _searched(command: Commands, folder: Path) -> Sample:
    with child(command("filesystem", str(folder / "files"))) as server:
        desk = Desk(server)
        return desk.timed(lambda: desk.call("search_files", path=str(folder / "files"), pattern="**/report-*.txt"))


def _read(command: Commands, folder: Path) -> Sample:
    paths = sorted((folder / "files").glob("part-000/*.txt"))[:READS]
    with child(command("filesystem", str(folder / "files"))) as server:
        desk = Desk(server)
        return desk.timed(lambda: [desk.call("read_text_file", path=str(path)) for path in paths])


def _repository(folder: Path, settings: Settings) -> None:
    """Make the commits, in one stream."""
    lines = ["blob", "mark :1", "data 2", "x", ""]
    for number in range(1, settings.count(COMMITS) + 1):
        message = f"Change {number}"
        who = f"committer Ann <ann@example.com> {1_700_000_000 + number * 60} +0000"
        lines += ["commit refs/heads/main", who, f"data {len(message)}", message]
        lines += [f"M 100644 :1 file-{number % 50}-{number}.txt", ""]
    subprocess.run(["git", "init", "--quiet", "-b", "main", folder / "repository"], check=True)
    stream = "\n".join(lines).encode()
    subprocess.run(["git", "-C", folder / "repository", "fast-import", "--quiet"], input=stream, check=True)


def _logged(command: Commands, folder: Path) -> Sample:
    place = str(folder / "repository")
    with child(command("git", "--repository", place)) as server:
        desk = Desk(server)
        return desk.timed(lambda: desk.call("git_log", repo_path=place, max_count=COMMITS))


def _memory(folder: Path, settings: Settings) -> None:
    """Make the graph: each entity with two observations, every second one related to the next."""
    with (folder / "memory.jsonl").open("w") as file:
        count = settings.count(ENTITIES)
        for number in range(count):
            observations = [f"observation {number} of colour {number % 97}", f"lives in place {number % 311}"]
            entity = {"type": "entity", "name": f"entity-{number}", "entityType": "thing", "observations": observations}
            file.write(json.dumps(entity) + "\n")
        for number in range(0, count - 1, 2):
            ends = {"from": f"entity-{number}", "to": f"entity-{number + 1}", "relationType": "precedes"}
            file.write(json.dumps({"type": "relation", **ends}) + "\n")


def _remembered(tool: str, arguments: dict[str, Any], command: Commands, folder: Path) -> Sample:
    environment = {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    with child(command("memory"), environment) as server:
        desk = Desk(server)
        return desk.timed(lambda: desk.call(tool, **arguments))


def _noted(command: Commands, folder: Path) -> Sample:
    """Add an observation that is new each time, so that each call writes the file."""
    numbers = itertools.count()
    with child(command("memory"), {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}) as server:
        desk = Desk(server)

        def note() -> object:
            new = {"entityName": "entity-7", "contents": [f"{os.getpid()} {server.pid} {next(numbers)}"]}
            return desk.call("add_observations", observations=[new])

        return desk.timed(note)


FILE_WORK: Jobs = {f"filesystem: search {FILES:,} files": _searched, f"filesystem: read {READS} files": _read}
GIT_WORK: Jobs = {f"git: log of {COMMITS:,} commits": _logged}
MEMORY_WORK: Jobs = {
    f"memory of {ENTITIES:,}: open 2": partial(_remembered, "open_nodes", {"names": ["entity-7", "entity-40000"]}),
    f"memory of {ENTITIES:,}: search": partial(_remembered, "search_nodes", {"query": "entity-4217"}),
    f"memory of {ENTITIES:,}: add an observation": _noted,
}

SERVERS = Section(
    name="servers",
    title="Reference servers, beside the official ones",
    note="CPU is that of the server itself. The wall clock has the processes that it starts in it, as `git`.",
    peers=(SPLICE, ORIGINAL),
    columns=(CPU_MS, WALL_MS, "RSS MB"),
    ratio=(CPU_MS,),
    steps=steps,
    baseline=ORIGINAL,
)
