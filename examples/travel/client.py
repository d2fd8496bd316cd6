"""The client of the travel example: one journey to Barcelona, with three servers over three connections.

    python -m examples.travel.client [--no-input] [--json] [--folder FOLDER]

The travel server is spoken to over stdio and the weather server over HTTP, both by the newest protocol version; the
office server over stdio, by the last version with sessions. A script stands where a host has its model. In the end it
looks whether everything that was to happen did happen. `splice demo` runs this.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from splice import Client, MCPError
from splice.types import Root

from .person import Person, Refused
from .processes import on_http, on_stdio, until_told
from .screen import Screen
from .sink import mail_sink
from .walk import Heard, Walk

MODERN, LEGACY = "2026-07-28", "2025-11-25"
"""The versions that the connections speak."""


@asynccontextmanager
async def servers(folder: Path, person: Person, heard: Heard) -> AsyncIterator[tuple[dict[str, Client], str]]:
    """Start the servers and the mail sink, for the length of the block; yields the clients, and the URL of one."""

    def hear(server: str) -> Any:
        return lambda change: heard.put_nowait((server, change.uri or change.kind))

    async with mail_sink(folder / "mails") as port:
        settings = {"SPLICE_TRAVEL_DATA": str(folder / "data"), "SPLICE_TRAVEL_SMTP": f"127.0.0.1:{port}"}
        travel = Client(
            on_stdio("travel", settings),
            protocol=MODERN,
            on_elicit=person.elicit,
            on_sample=person.sample,
            roots=[Root(uri=(folder / "travel-planning").as_uri(), name="Travel Planning Workspace")],
            can=["elicitation.url"],
        )
        office = Client(on_stdio("office", settings), protocol=LEGACY, on_change=hear("office"))
        async with on_http("weather", {**settings, "SPLICE_TRAVEL_OPERATOR": "1"}) as url:
            weather = Client(url, protocol=MODERN, on_change=hear("weather"))
            async with travel, weather, office:
                yield {"travel": travel, "weather": weather, "office": office}, url


async def journey(folder: Path, screen: Screen, person: Person) -> Walk:
    """Walk through all of it. Raises `MCPError`, `RuntimeError` and `Refused`."""
    heard: Heard = asyncio.Queue()
    (folder / "travel-planning").mkdir(parents=True, exist_ok=True)
    async with servers(folder, person, heard) as (clients, weather_url):
        walk = Walk(clients, weather_url, folder, screen, person, heard)
        await walk.all()
        return walk


def show(*, as_json: bool = False, is_there: bool = False, folder: Path | None = None) -> list[str]:
    """Walk, and show it; return what is not as it should be. Raises `MCPError` and `RuntimeError`."""
    screen = Screen(quiet=as_json)
    person = Person(screen, is_there=is_there)
    with TemporaryDirectory(prefix="splice-travel-") as made:
        try:
            walk = asyncio.run(until_told(journey(folder or Path(made).resolve(), screen, person)))
        except Refused as refused:
            return [str(refused)]
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None  # SIGTERM, or the terminal is gone
    if as_json:
        print(json.dumps(asdict(walk.seen), indent=2, ensure_ascii=False))
    return walk.problems


def main() -> int:
    """Run the client; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m examples.travel.client", description=__doc__.partition("\n")[0])
    parser.add_argument("--no-input", action="store_true", help="let the script answer, also at a terminal")
    parser.add_argument("--json", action="store_true", help="print what was seen as JSON, and nothing else")
    parser.add_argument("--folder", type=Path, help="where databases, mails and the itinerary stay; else they go")
    options = parser.parse_args()
    is_there = sys.stdin.isatty() and sys.stdout.isatty() and not options.no_input and not options.json
    try:
        problems = show(as_json=options.json, is_there=is_there, folder=options.folder and options.folder.resolve())
    except (MCPError, RuntimeError) as error:
        problems = [f"{type(error).__name__}: {error}"]
    except KeyboardInterrupt:
        return 130
    for problem in problems:
        print(f"travel: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
