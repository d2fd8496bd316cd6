"""The tool that writes the itinerary of a booking: Markdown below a directory that the client lets the server use.

Nothing outside is ever touched. The path is walked from a handle of the root, part by part, and no part may be a
symbolic link, so that nobody can lead it elsewhere meanwhile. The file appears whole, or not at all.

https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import asyncio
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date, timedelta
from itertools import cycle
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlsplit

from msgspec import Meta

from splice import Context, Server, ToolError
from splice.types import CallToolResult, Root, ToolAnnotations

from . import shapes
from .bookings import Booking
from .desk import Desk, city_of, owner_of
from .seeding import PREFERENCES

MAX_PARTS = 16
"""How many parts the path of a file may have."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def add(server: Server) -> None:
    """Offer the tool."""
    schema = shapes.schema_of(shapes.Written)
    server.add_tool(
        write_itinerary, name="writeItinerary", title="Write the itinerary", annotations=_WRITES, output_schema=schema
    )


async def write_itinerary(
    reference: Annotated[str, Meta(description="The reference of a booking")],
    ctx: Context[Desk],
    file: Annotated[
        str, Meta(min_length=1, max_length=500, description="Where, below the root", examples=["trips/barcelona.md"])
    ] = "itinerary.md",
    root: Annotated[
        str, Meta(description="The name or URI of one of the client's roots; the first one by default")
    ] = "",
    overwrite: Annotated[bool, Meta(description="Replace a file that is there already")] = False,
) -> CallToolResult:
    """Write the itinerary of a booking as Markdown into a directory that the client opened for the server."""
    desk, parts = ctx.lifespan, path_parts(file)
    booking = await asyncio.to_thread(desk.booking, reference, owner_of(ctx))
    chosen = _choose(await ctx.roots(key="roots"), root)
    text = await asyncio.to_thread(itinerary_of, desk, booking)
    await asyncio.to_thread(write_below, _path_of(chosen), parts, text.encode(), overwrite=overwrite)
    uri = f"{chosen.uri.rstrip('/')}/{'/'.join(map(quote, parts))}"
    value = shapes.Written(uri, chosen.name or chosen.uri, "/".join(parts), len(text.encode()))
    return shapes.told(f"Wrote {value.path} ({value.size} bytes) below {value.root}.", value)


def itinerary_of(desk: Desk, booking: Booking) -> str:
    """Write down a journey: what was booked, and what to do on each day."""
    details = booking.details
    lines = [f"# {_plain(details['title'])}", "", f"Booking {booking.reference}, {booking.status}."]
    lines += ["", "## Booked", "", *(f"- {_plain(line)}" for line in details["lines"])]
    wishes = {"seatPreference": "Seat", "roomType": "Room"}
    lines += [f"- {word}: {_plain(details[name])}" for name, word in wishes.items() if name in details]
    insurance = "with" if details.get("travelInsurance") else "without"
    lines += [f"- Total: {shapes.dollars(booking.cents)}, {insurance} travel insurance", ""]
    lines += ["## Travelers", "", f"- {_plain(details['contact']['name'])}, {_plain(details['contact']['email'])}"]
    if "specialRequests" in details["contact"]:
        lines.append(f"- The hotel knows: {_plain(details['contact']['specialRequests'])}")
    return "\n".join([*lines, *_days(desk, details), ""])


def _days(desk: Desk, details: dict[str, Any]) -> Iterator[str]:
    """Propose something for each day of a stay, by what the traveler likes there."""
    if "hotel" not in details:
        return
    arrival, departure = (date.fromisoformat(details[name]) for name in ("arrival", "departure"))
    city = city_of(desk.hotel(details["hotel"])["city"], "city")
    query = "SELECT name, about FROM activities WHERE city = ? AND category = ? ORDER BY rowid"
    with desk.reading() as db:
        found = [db.execute(query, (city.name, each)).fetchall() for each in PREFERENCES[city.region]["interests"]]
    ideas = cycle(row for place in range(4) for rows in found for row in rows[place : place + 1])
    yield from ("", "## Days")
    for number, (name, about) in zip(range((departure - arrival).days), ideas, strict=False):
        yield from ("", f"### {arrival + timedelta(days=number):%A, %d %B %Y}", "", f"- {name}: {about}")


def _plain(text: object) -> str:
    """Keep what somebody typed on its line, and from being markup."""
    line = "".join(each if each.isprintable() else " " for each in str(text))
    return "".join(f"\\{each}" if each in "\\`*_[]<>#|" else each for each in " ".join(line.split()))


def path_parts(file: str) -> tuple[str, ...]:
    """Read a relative path. Raises `ToolError` for one that could lead out of the root."""
    path = PurePosixPath(file)
    odd = "\\" in file or not file.isprintable() or any(part in {"..", "~"} for part in path.parts)
    if path.is_absolute() or odd or not 1 <= len(path.parts) <= MAX_PARTS:
        raise ToolError(f"{file[:80]!r} is not a path below the root. Give a relative one, such as trips/barcelona.md.")
    if path.suffix != ".md":
        raise ToolError(f"{file[:80]!r} does not end in .md: itineraries are Markdown.")
    return path.parts


def _choose(roots: Sequence[Root], wanted: str) -> Root:
    """Choose one of the client's roots. Raises `ToolError`."""
    local = [root for root in roots if urlsplit(root.uri).scheme == "file" and not urlsplit(root.uri).netloc]
    if not local:
        raise ToolError("The client opened no local directory for this server: nothing was written.")
    for root in local:
        if not wanted or wanted in {root.name, root.uri, root.uri.rstrip("/")}:
            return root
    names = ", ".join(root.name or root.uri for root in local)
    raise ToolError(f"{wanted[:80]!r} is none of the client's roots: {names}")


def _path_of(root: Root) -> str:
    path = unquote(urlsplit(root.uri).path)
    if not path.startswith("/") or "\0" in path:
        raise ToolError(f"The root {root.uri[:80]!r} is not the URI of a directory.")
    return path


def write_below(root: str, parts: tuple[str, ...], content: bytes, *, overwrite: bool) -> None:
    """Write a file below a directory. Raises `ToolError` where it is there already, or cannot be."""
    try:
        with _opened(root, parts[:-1]) as directory:
            _place(directory, parts[-1], content, overwrite=overwrite)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else "it cannot be"
        raise ToolError(
            f"{'/'.join(parts)} was not written below the root: {why}. Directories on the way must be real ones."
        ) from None


@contextmanager
def _opened(root: str, parts: tuple[str, ...]) -> Iterator[int]:
    """Open a directory below the root, making what is missing on the way."""
    # The root itself is the client's word, and may be a link; what lies below it may not.
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=at)
            below = os.open(part, _DIRECTORY, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def _place(directory: int, name: str, content: bytes, *, overwrite: bool) -> None:
    """Put a file in its place: it is written under another name first, and then takes its own at once."""
    draft = f".{secrets.token_hex(8)}.tmp"
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=directory)
    try:
        with closing(os.fdopen(file, "wb")) as written:
            written.write(content)
        if overwrite:
            os.replace(draft, name, src_dir_fd=directory, dst_dir_fd=directory)
            return
        try:
            os.link(draft, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        except FileExistsError:
            if not _is_same(directory, name, content):
                raise ToolError(f"{name} is there already. Give another name, or overwrite=true.") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=directory)


def _is_same(directory: int, name: str, content: bytes) -> bool:
    """Tell whether a file says the same already, as after a request that was repeated."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return False
    with os.fdopen(file, "rb") as there:
        return there.read(len(content) + 1) == content
