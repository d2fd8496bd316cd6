"""The filesystem server: no path, no URI and no link that is swapped in the midst of a call leads out of the roots.

The links are swapped by an audit hook, which Python calls before it opens, lists, renames, links or makes anything:
so a swap happens between any two steps of a call, at the same one whenever an example is tried again.
"""

import asyncio
import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

from hypothesis import example
from hypothesis import strategies as st

from fuzz.fuzzing import cpu_seconds, fuzz, tried
from splice import Client, MCPError, ToolError
from splice.servers.filesystem import directories
from splice.servers.filesystem.completing import complete
from splice.servers.filesystem.globs import Glob
from splice.servers.filesystem.listing import Listing
from splice.servers.filesystem.paths import Root
from splice.servers.filesystem.reading import Reading
from splice.servers.filesystem.results import Limits
from splice.servers.filesystem.server import make
from splice.servers.filesystem.writing import Edit, Writing

SECRET = "kept from everybody " * 216 + "!"
MARKS = ("kept from", "hidden-name", "4.22 KB", "size: 4321", "a2VwdCBmcm9t")
"""What an answer may never have: the words, a name, the size in two forms, and the words in base64."""
WATCHED = {"open", "os.scandir", "os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir"}

READING, LISTING, WRITING = Reading(Limits()), Listing(Limits()), Writing(Limits())
EDIT = Edit("e", "E")
TOOLS: list[Callable[[str, str], Any]] = [
    lambda path, _: READING.read_text_file(path),
    lambda path, _: READING.read_text_file(path, tail=1),
    lambda path, other: READING.read_multiple_files([path, other]),
    lambda path, _: READING.read_media_file(path),
    lambda path, _: LISTING.list_directory(path),
    lambda path, _: LISTING.list_directory_with_sizes(path),
    lambda path, _: LISTING.directory_tree(path),
    lambda path, _: LISTING.search_files(path, "**"),
    lambda path, _: LISTING.get_file_info(path),
    lambda path, _: WRITING.write_file(path, "written"),
    lambda path, _: WRITING.edit_file(path, [EDIT]),
    lambda path, _: WRITING.create_directory(path),
    WRITING.move_file,
    lambda path, _: complete(path.removeprefix("/")),
]

NAMES = ["a", "b", "in", normalize("NFC", "é"), normalize("NFD", "é")]
WHAT = [
    "nothing",
    "file",
    "directory",
    "outside",
    "hidden",
    "up",
    "root",
    "across",
    "a",
    "b/in",
    "/a",
    "./../b",
    "loop",
]


class Swap(NamedTuple):
    """At which step of the call, which name in the root (or in its directory `a`) becomes what."""

    step: int
    name: str
    what: str


class Ground:
    """A root with a few names in it, beside what is not allowed."""

    def __init__(self) -> None:
        self.base = Path(os.path.realpath(tempfile.mkdtemp(prefix="splice-fuzz-")))
        self.root, self.outside = self.base / "root", self.base / "root-outside"
        (self.outside / "hidden-name").mkdir(parents=True)
        for name in ("in", "a", "hidden-name/in"):
            (self.outside / name).write_text(SECRET)
        self.links = {
            "outside": str(self.outside),
            "hidden": str(self.outside / "in"),
            "up": "..",
            "root": str(self.root),
            "across": "../root-outside",
            "/a": str(self.root / "a"),
            "loop": "a/b/../a",
        }
        self.kept = self.seen()
        self.swaps: list[Swap] = []
        self.steps = -1
        """How many steps the running call has taken; -1 while none runs."""
        self.taken = 0
        sys.addaudithook(self.watch)
        atexit.register(shutil.rmtree, self.base, ignore_errors=True)

    def seen(self) -> dict[str, str]:
        """Read all that is outside, and the names beside it."""
        found = {str(each): "" for each in self.base.iterdir() if each.name != "root"}
        for folder, _, files in os.walk(self.outside):
            found |= {f"{folder}/{name}": Path(folder, name).read_text() for name in files} | {folder: ""}
        return found

    def lay_out(self) -> None:
        """Begin anew."""
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "a" / "b").mkdir(parents=True)
        (self.root / "b").mkdir()
        for name in ("in", "a/in", "b/in"):
            (self.root / name).write_text("here")

    def put(self, name: str, what: str) -> None:
        """Make something else of a name."""
        path = self.root / name
        if path.parent.is_symlink():  # or this would reach out itself
            return
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rename(self.root / f"old-{self.steps}-{name.replace('/', '-')}")
            path.unlink(missing_ok=True)
            if what == "file":
                path.write_text("here")
            elif what == "directory":
                path.mkdir()
            elif what != "nothing":
                path.symlink_to(self.links.get(what, what))

    def watch(self, event: str, _: Any) -> None:
        """Swap what is to be swapped before this step of the call."""
        if self.steps < 0 or event not in WATCHED:
            return
        step, self.steps = self.steps, -1
        for swap in self.swaps:
            if swap.step == step:
                self.put(swap.name, swap.what)
        self.steps = step + 1

    def during(self, swaps: list[Swap], call: Callable[[], Any]) -> str:
        """Call a tool; give what it says."""
        self.swaps, self.steps = swaps, 0
        try:
            return str(call())
        except ToolError as error:
            return str(error)
        finally:
            self.taken, self.steps = self.steps, -1


@cache
def ground() -> Ground:
    made = Ground()
    directories.granted.set((Root(str(made.root), str(made.root)),))
    return made


NAME = st.sampled_from([*NAMES, "a/in", "a/b"])
SWAPS = st.lists(st.builds(Swap, st.integers(0, 40), NAME, st.sampled_from(WHAT)), max_size=6)
PART = st.sampled_from([*NAMES, *NAMES, "..", ".", "", "~", "hidden-name", "C:", "\\", "\0", "...", ".. ", "%2e%2e"])
PLACES = ["{root}/", "{root}/../", "", "/", "{root}-outside/", "~/", "{root}/a/../../root-outside/", "/proc/self/cwd/"]


@st.composite
def paths(draw: st.DrawFn) -> str:
    parts = draw(st.lists(PART | st.text(max_size=3), max_size=5))
    return draw(st.sampled_from([*PLACES[:1] * 4, *PLACES])) + "/".join(parts)


ODD = st.text(st.characters(), max_size=4).map(lambda text: "{root}/" + text)
"""Lone surrogates, too."""


def checked(found: str, *given: str) -> None:
    here = ground()
    assert not any(mark in found and not any(mark in each for each in given) for mark in MARKS), found
    assert str(here.outside) not in found or any("outside" in each for each in given), found
    assert here.seen() == here.kept


@fuzz(tool=st.integers(0, len(TOOLS) - 1), path=paths() | ODD, other=paths(), before=SWAPS, during=SWAPS)
@example(tool=0, path="{root}/a/in", other="", before=[], during=[Swap(step, "a", "outside") for step in range(9)])
@example(tool=9, path="{root}/a/in", other="", before=[], during=[Swap(step, "a", "outside") for step in range(9)])
@example(tool=12, path="{root}/a/in", other="x", before=[], during=[Swap(step, "a", "across") for step in range(9)])
def test_no_path_and_no_swap_leads_out(
    tool: int, path: str, other: str, before: list[Swap], during: list[Swap]
) -> None:
    here = ground()
    here.lay_out()
    for swap in before:
        here.put(swap.name, swap.what)
    given = [each.replace("{root}", str(here.root)) for each in (path, other)]
    checked(here.during(during, lambda: TOOLS[tool](*given)), *given)


@fuzz(tool=st.integers(0, len(TOOLS) - 1), name=NAME, what=st.sampled_from(WHAT))
@example(tool=0, name="in", what="hidden")
@example(tool=3, name="a/in", what="hidden")
@example(tool=4, name="a", what="outside")
@example(tool=6, name="a/b", what="outside")
@example(tool=7, name="a/b", what="outside")
@example(tool=9, name="in", what="hidden")
@example(tool=10, name="in", what="hidden")
def test_no_swap_at_any_one_step_leads_out(tool: int, name: str, what: str) -> None:
    here, path = ground(), "." if tool in {4, 6, 7} else name
    here.lay_out()
    here.during([], lambda: TOOLS[tool](path, "new"))
    on_the_way = here.base.as_posix().count("/")  # to the root
    for step in range(on_the_way, here.taken + 1):
        here.lay_out()
        checked(here.during([Swap(step, name, what)], lambda: TOOLS[tool](path, "new")), path)
        tried[f"swaps at step {step}"] += 1


@cache
def connected() -> tuple[asyncio.AbstractEventLoop, Client]:
    loop, client = asyncio.new_event_loop(), Client(make(directories=[str(ground().root)], poll_seconds=1000))
    loop.run_until_complete(client.open())
    return loop, client


ESCAPES = st.sampled_from(["/", "%2F", "%2f", "//", "/./", "%00", "\\", "%5C", "?", "#", "%23", "%", "%FF", "%C0%AE"])
URI_PART = PART | st.sampled_from(["%2e%2e", "..%2f", "%2E.", "a%CC%81", "%61", "\ufeff"])


@fuzz(
    start=st.sampled_from(
        ["{root}", "{root}", "{root}", "file://localhost", "file:", "FILE://", "file:///", "file:////"]
    ),
    pieces=st.lists(ESCAPES | URI_PART, max_size=8),
    before=SWAPS,
)
def test_no_uri_leads_out(start: str, pieces: list[str], before: list[Swap]) -> None:
    here = ground()
    here.lay_out()
    for swap in before:
        here.put(swap.name, swap.what)
    loop, client = connected()
    uri = start.replace("{root}", here.root.as_uri() + "/") + "".join(pieces)

    async def read() -> str:
        try:
            return str(await client.read_resource(uri))
        except (MCPError, ValueError) as error:
            return str(error)

    found = loop.run_until_complete(read())
    assert "(reference" not in found
    checked(found, uri)


@fuzz(
    pattern=st.text("*?[]!^-{},/.ab\\", max_size=30) | st.text(max_size=20), names=st.lists(st.text("ab*", min_size=1))
)
def test_no_pattern_takes_long(pattern: str, names: list[str]) -> None:
    def match() -> None:
        with suppress(ToolError):
            glob = Glob([pattern])
            states = glob.start
            for name in (*names, "a" * 250, "ab" * 125):
                states = glob.step(states, name)
                glob.matches(states)

    assert cpu_seconds(match) < 0.1
