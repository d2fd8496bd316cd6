"""A server that keeps notes: types of all kinds, progress, questions to the user and the model, resources and prompts.

splice list examples/notes/notes_server.py
splice call examples/notes/notes_server.py write title=Shopping 'text=milk and bread' tags='["home"]'
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypedDict

from msgspec import Struct
from pydantic import BaseModel, Field

from splice import Context, Image, Server, ToolError

PIXEL = b"\x89PNG\r\n\x1a\n"


@dataclass
class Note:
    """One note."""

    title: str
    text: str
    tags: list[str] = field(default_factory=list)


class Query(BaseModel):
    """What to look for."""

    words: str = ""
    limit: int = Field(10, ge=1, le=50, description="How many notes at most")


class Count(TypedDict):
    """How many there are."""

    notes: int
    words: int


class Move(Struct):
    """A new name for a note."""

    old: str
    new: str


@dataclass
class Sure:
    """Whether the user means it."""

    really: Annotated[bool, "Delete it?"] = False


@asynccontextmanager
async def notebook(_server: Server) -> AsyncIterator[dict[str, Note]]:
    """Open the notes for as long as the server runs."""
    yield {"Welcome": Note("Welcome", "Write something.", ["help"])}


server = Server("notes", version="1.0.0", lifespan=notebook, page_size=3, instructions="Begin with `search`.")


def find(ctx: Context, title: str) -> Note:
    """Find a note. Raises `ToolError` with what there is."""
    notes: dict[str, Note] = ctx.lifespan
    if title not in notes:
        raise ToolError(f"There is no note {title!r}. There are: {', '.join(notes)}.")
    return notes[title]


@server.tool
async def write(title: str, text: str, ctx: Context, tags: list[str] | None = None) -> Note:
    """Write a note, or write it anew."""
    note = ctx.lifespan[title] = Note(title, text, tags or [])
    await ctx.notify_resource_updated(f"note://{title}")
    return note


@server.tool
def read(title: str, ctx: Context) -> Note:
    """Read a note."""
    return find(ctx, title)


@server.tool
def search(query: Query, ctx: Context) -> list[str]:
    """Find notes by their words."""
    return [each.title for each in ctx.lifespan.values() if query.words in each.text][: query.limit]


@server.tool
def count(ctx: Context) -> Count:
    """Count notes and words."""
    notes = ctx.lifespan.values()
    return Count(notes=len(notes), words=sum(len(each.text.split()) for each in notes))


@server.tool
def rename(move: Move, ctx: Context) -> Note:
    """Give a note another title."""
    note = ctx.lifespan[move.new] = find(ctx, move.old)
    del ctx.lifespan[move.old]
    note.title = move.new
    return note


@server.tool
async def delete(title: str, ctx: Context) -> str:
    """Delete a note, if the user says so."""
    find(ctx, title)
    answer = await ctx.elicit(f"Delete {title!r}?", Sure)
    if not answer.accepted or not answer.data.really:
        return f"{title} stays."
    del ctx.lifespan[title]
    return f"{title} is gone."


@server.tool
async def summarize(title: str, ctx: Context) -> str:
    """Let the client's model sum a note up."""
    return (await ctx.sample(f"Sum up: {find(ctx, title).text}", max_tokens=100)).text


@server.tool
async def export(ctx: Context) -> str:
    """Say where the notes would be saved: in the first folder that the client lends."""
    roots = await ctx.roots()
    return roots[0].uri if roots else "nowhere"


@server.tool
async def index(ctx: Context, style: Literal["short", "long"] = "short") -> str:
    """Go through all notes, and tell how far it is."""
    notes = list(ctx.lifespan.values())
    for number, note in enumerate(notes, 1):
        await ctx.progress(number, len(notes), note.title)
        await asyncio.sleep(0)
    return ", ".join(note.title if style == "short" else f"{note.title}: {note.text}" for note in notes)


@server.tool
def cover() -> Image:
    """Draw the cover."""
    return Image(PIXEL, mime_type="image/png")


@server.tool
def crash() -> str:
    """Fail in a way that nobody planned."""
    raise KeyError("a key of ours")


@server.resource("note://{title}")
def note(title: str, ctx: Context) -> str:
    """One note, as text."""
    return find(ctx, title).text


@server.prompt
def tidy(title: str) -> str:
    """Ask for a better text."""
    return f"Read note://{title} and write it more clearly."


if __name__ == "__main__":
    server.run()
