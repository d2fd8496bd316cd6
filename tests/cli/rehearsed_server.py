"""Tools that do something and then ask. A line that ends in `# warned` is one that `splice run --dev` warns of.

It runs in a directory of its own, where it leaves its files.
"""

# It does things in all the ways there are.
# ruff: noqa: ASYNC221, ASYNC230, ASYNC240, ASYNC251, PTH103, PTH104, PTH106, PTH107, PTH123, PTH208

import asyncio
import logging
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from splice import Context, InputRequired, Server, ToolError
from splice.types import ElicitParams

server = Server("rehearsed")
database = sqlite3.connect("shop.db", check_same_thread=False, isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS sold (name TEXT)")
Path("menu.txt").write_text("cake")


def save(name: str) -> int:
    return Path(name).write_text("cake")  # warned


def write_twice(name: str) -> None:
    for _ in range(2):
        with open(name, "a") as file:  # warned
            file.write("cake")


async def save_later(name: str) -> int:
    return await asyncio.to_thread(Path(name).write_text, "cake")


@contextmanager
def web() -> Iterator[str]:
    """Serve one request, on a thread of its own."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as served:
        thread = threading.Thread(target=served.handle_request)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/"
        thread.join()


def fetch(request: str | urllib.request.Request) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(request, timeout=5).close()  # warned


@server.tool
async def in_a_function(ctx: Context) -> str:
    save("one.txt")
    return (await ctx.elicit("Sure?")).action


@server.tool
async def in_the_same_function(ctx: Context) -> str:
    await ctx.elicit("Sure?")
    save("one.txt")
    return (await ctx.elicit("Really?")).action


@server.tool
async def on_a_thread(ctx: Context) -> str:
    await asyncio.to_thread(Path("two.txt").write_text, "cake")  # warned
    return (await ctx.elicit("Sure?")).action


@server.tool
async def in_a_task(ctx: Context) -> str:
    async def remove() -> None:
        os.remove("menu2.txt")  # warned

    shutil.copyfile("menu.txt", "menu2.txt")  # warned
    async with asyncio.TaskGroup() as group:
        group.create_task(remove())
    return (await ctx.elicit("Sure?")).action


@server.tool
def without_async(ctx: Context) -> str:
    os.makedirs("made", exist_ok=True)  # warned
    os.rename("made", "renamed")  # warned
    os.rmdir("renamed")  # warned
    return ctx.wait(ctx.elicit("Sure?")).action


@server.tool(blocking=False)
def on_the_loop(ctx: Context) -> InputRequired | str:
    if ctx.answers:
        return "answered"
    write_twice("three.txt")
    form = {"type": "object", "properties": {}}
    return InputRequired({"sure": ElicitParams(mode="form", message="Sure?", requested_schema=form)})


@server.tool
async def programs(ctx: Context) -> str:
    subprocess.run([sys.executable, "-c", ""], check=True)  # warned
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "")  # warned
    await child.wait()
    os.system("true")  # warned
    return (await ctx.elicit("Sure?")).action


@server.tool
async def sockets(ctx: Context) -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        _, writer = await asyncio.open_connection(*address)  # warned
        writer.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.sendto(b"cake", address)  # warned
    return (await ctx.elicit("Sure?")).action


@server.tool
async def posts(ctx: Context) -> str:
    with web() as url:
        await asyncio.to_thread(fetch, urllib.request.Request(url, b"cake"))
    return (await ctx.elicit("Sure?")).action


@server.tool
async def sells(ctx: Context) -> str:
    database.execute("INSERT INTO sold VALUES ('cake')")  # warned
    return (await ctx.elicit("Sure?")).action


@server.tool
async def between_two(ctx: Context) -> str:
    if not (await ctx.elicit("Sure?")).accepted:
        raise ToolError("no")
    Path("four.txt").write_text("cake")  # warned
    return (await ctx.elicit("Really?")).action


@server.resource("shop://{name}")
async def item(name: str, ctx: Context) -> str:
    Path(f"{name}.txt").write_text(name)  # warned
    return (await ctx.elicit("Sure?")).action


@server.prompt
async def greet(ctx: Context) -> str:
    Path("greeting.txt").write_text("hello")  # warned
    return (await ctx.elicit("Sure?")).action


# What no warning is due for.


@server.tool
async def asks_first(ctx: Context) -> str:
    answer = await ctx.elicit("Sure?")
    Path("five.txt").write_text("cake")
    return answer.action


@server.tool
async def does_it_once(ctx: Context) -> str:
    def six() -> int:
        return Path("six.txt").write_text("cake")

    await asyncio.gather(ctx.once(six, key="six"), ctx.once(save_later, "seven.txt", key="seven"))
    return (await ctx.elicit("Sure?")).action


@server.tool
def does_it_once_without_async(ctx: Context) -> str:
    ctx.wait(ctx.once(shutil.copyfile, "menu.txt", "eight.txt"))
    return ctx.wait(ctx.elicit("Sure?")).action


@server.tool
async def reads(ctx: Context) -> str:
    read: list[Callable[[], object]] = [Path("menu.txt").read_text, lambda: os.listdir("."), Path("menu.txt").stat]
    for each in read:
        each()
    database.execute("SELECT * FROM sold").fetchall()
    with web() as url:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        await asyncio.to_thread(opener.open(url, timeout=5).close)
    with open(os.devnull, "w") as nowhere:
        nowhere.write("cake")
    return (await ctx.elicit("Sure?")).action


@server.tool
async def tells(ctx: Context) -> str:
    import wave  # noqa: F401 - its bytecode may have to be written

    logger = logging.getLogger("shop")
    logger.addHandler(logging.FileHandler("shop.log", delay=True))
    logger.error("asked")
    await ctx.progress(1)
    await ctx.info("asking")
    return (await ctx.elicit("Sure?")).action


@server.tool
async def cleans_up(ctx: Context) -> str:
    try:
        return (await ctx.elicit("Sure?")).action
    finally:
        Path("nine.txt").write_text("cake")


@server.tool
async def blocks() -> None:
    time.sleep(0.15)


@server.tool
async def asks_nothing(ctx: Context) -> str:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "ten.txt").write_text("cake")
    return "done"
