"""What type checkers say of handlers: mypy and pyright read the same program, and find the same lines."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
"""Where mypy keeps what it knows of Splice already: without it the check takes four times as long."""

PROGRAM = """\
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from splice import Ask, Context, Elicited, Server

from splice.protocol.lifecycle import PING
from splice.protocol.wire import NoParams

class Colour(Enum):
    RED = "red"

@dataclass
class Database:
    url: str

@dataclass
class Person:
    name: str

@asynccontextmanager
async def lifespan(server: Server) -> AsyncIterator[Database]:
    yield Database("x")

server = Server("s", lifespan=lifespan, title="S", website_url="https://a.example")

def charge(amount: int, to: str) -> float:
    return 1.0

async def fetch(url: str) -> bytes:
    return b""

@server.tool
async def ask(ctx: Context[Database]) -> str:
    url: str = ctx.lifespan.url
    ctx.lifespan.nothing  # wrong
    answer = await ctx.elicit("Who?", Person)
    if answer.accepted:
        return answer.data.name
    answer.data.nothing  # wrong
    if answer.content is None:
        return answer.action
    return url

async def several(ctx: Context) -> None:
    anything: int = ctx.lifespan
    number = await ctx.elicit("How many?", int)
    total: int = number.data + 1
    colour = await ctx.elicit("Which?", Colour)
    name = colour.data.name if colour.accepted else "none"
    sure = await ctx.elicit("Sure?")
    yes: bool = sure.accepted
    typed: Elicited[Person] = await ctx.elicit("Who?", schema=Person)
    many = await ctx.elicit("Several?", list[Literal["a", "b"]])
    price: float = await ctx.once(charge, 1, "x")
    body: bytes = await ctx.once(fetch, "x", key="fetch")
    await ctx.once(charge, "x", "y")  # wrong
    await ctx.report_progress(1, total=2)
    await ctx.sample("x", model_preferences="claude", temperature=0.5)
    await ctx.sample("x", temprature=0.5)  # wrong

async def together(ctx: Context) -> None:
    one = await ctx.ask(Ask.form("Who?", Person))
    name: str = one.data.name
    who, number, sure, places = await ctx.ask(
        Ask.form("Who?", Person), Ask.form("How many?", int), Ask.link("Go", "https://a.example"), Ask.roots()
    )
    name, total, yes, uri = who.data.name, number.data + 1, sure.accepted, places[0].uri
    who.data.nothing  # wrong
    number.data.upper()  # wrong
    reply, form = await ctx.ask(Ask.sample("x", temperature=0.5), Ask.form("x", {"type": "object", "properties": {}}))
    text: str = reply.text + form.data["x"]
    reply.nothing  # wrong
    pong = await ctx.ask(Ask.method(PING, NoParams()))
    pong.nothing  # wrong
    Ask.form("Who?", 1, id=2)  # wrong
    answers = await ctx.ask(Ask.roots(), Ask.roots(), Ask.roots(), Ask.roots(), Ask.roots())
    several: int = len(answers)
    answers = await ctx.ask(*[Ask.roots() for _ in range(several)])

server.run("http", host="127.0.0.1", port=0, stateless=True)
server.run("http", hots="x")  # wrong
server.http_app(max_bdy=1)  # wrong
"""

WRONG = {number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_mypy_finds_what_is_wrong_and_nothing_else(program: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context"]
    done = subprocess.run([*command, program], check=False, capture_output=True, text=True, timeout=120, cwd=ROOT)
    lines = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert {int(line.split(":")[1]) for line in lines} == WRONG, done.stdout


def test_pyright_finds_what_is_wrong_and_nothing_else(program: Path) -> None:
    checker = str(Path(sys.executable).with_name("basedpyright"))
    command = [checker, "--outputjson", "--pythonpath", sys.executable]
    (program.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "basic"}')
    done = subprocess.run(
        [*command, "-p", str(program.parent)], check=False, capture_output=True, text=True, timeout=120
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"} == WRONG, done.stdout
