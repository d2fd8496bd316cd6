"""A host for tests: servers of this process, a scripted model, files in a folder; and waiting for items."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from splice.host.asked import Asked, Decision
from splice.host.host import Host
from splice.host.items import Call, Item, Message, Question
from splice.host.models.script import ScriptModel

AnItem = TypeVar("AnItem", bound=Item)
T = TypeVar("T")

LONG = 20.0
"""How many seconds anything here may take."""


def run(work: Coroutine[Any, Any, T], seconds: float = LONG) -> T:
    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            return await work

    return asyncio.run(bounded())


@asynccontextmanager
async def hosting(home: Path, servers: dict[str, Any], *turns: dict[str, Any], **options: Any) -> AsyncIterator[Host]:
    """Open a host whose model plays these turns."""
    options = {"cwd": home, "home": home, "model": ScriptModel(turns), **options}
    host = Host.from_config(servers=servers, **options)
    async with host:
        yield host


async def until(host: Host, kind: type[AnItem], fits: Callable[[AnItem], bool] = lambda _: True) -> AnItem:
    """Wait until an item that fits stands on the board."""
    async for _ in host.board.watch():
        for item in host.board.all(kind):
            if fits(item):
                return item
    raise AssertionError


async def asked(host: Host, kind: type[Asked], count: int = 1) -> list[Question]:
    """Wait until so many questions of a kind stand on the board."""
    async for _ in host.board.watch():
        found = [each for each in host.board.all(Question) if isinstance(each.asked, kind)]
        if len(found) >= count:
            return sorted(found, key=lambda each: each.number)
    raise AssertionError


def allow(host: Host, *questions: Question) -> None:
    for each in questions:
        assert host.answer(each.id, Decision("once"), "program") == ""


def calls(host: Host) -> list[Call]:
    return sorted(host.board.all(Call), key=lambda call: int(call.id.rpartition(":")[2]))


def said(host: Host, role: str) -> list[str]:
    found = sorted(host.board.all(Message), key=lambda message: int(message.id.rpartition(":")[2]))
    return [message.text for message in found if message.role == role]


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}
