"""Itineraries of the travel example: whatever path a model asks for, nothing outside of the client's root is touched.

The root has links out of it, to files and to directories, by relative and absolute ways, and links to links.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from examples.travel import itinerary
from hypothesis import strategies as st

from fuzz.fuzzing import fuzz
from splice import ToolError

PIECES = [
    "..",
    ".",
    "/",
    "//",
    "\\",
    "~",
    "\0",
    "\n",
    "%2e%2e",
    "%2f",
    "\uff0e\uff0e",
    "\u2025",
    " ",
    "C:",
    "file:",
    "\ud800",
    "ü",
]
NAMES = ["up", "out", "chain", "a", "a/up", "note.md", "x", "x.md", "root", "outside", "target.md", "n" * 255]
PATHS = st.lists(st.sampled_from(PIECES + NAMES + ["/"] * 8) | st.text(max_size=3), max_size=8).map("".join)


@contextmanager
def _places() -> Iterator[tuple[Path, Path]]:
    """Make a root that is full of traps, and what lies beside it."""
    base = Path(tempfile.mkdtemp(prefix="escapes"))
    root, outside = base / "root", base / "outside"
    (root / "a").mkdir(parents=True)
    outside.mkdir()
    (outside / "target.md").write_text("theirs")
    (root / "up").symlink_to("..")
    (root / "out").symlink_to(outside)
    (root / "chain").symlink_to("a/up")
    (root / "a" / "up").symlink_to("../../outside")
    (root / "note.md").symlink_to(outside / "target.md")
    try:
        yield root, outside
    finally:
        shutil.rmtree(base)


@fuzz(files=st.lists(st.tuples(PATHS, st.sampled_from(["", ".md", "/x.md"]), st.booleans()), min_size=8, max_size=40))
def test_no_path_leads_out_of_the_root(files: list[tuple[str, str, bool]]) -> None:
    with _places() as (root, outside):
        for path, ending, overwrite in files:
            with suppress(ToolError):
                parts = itinerary.path_parts(path + ending)
                itinerary.write_below(str(root), parts, b"ours", overwrite=overwrite)
                assert (root / Path(*parts)).read_bytes() == b"ours"
        assert [each.name for each in outside.iterdir()] == ["target.md"]
        assert (outside / "target.md").read_text() == "theirs"
        assert {each.name for each in root.parent.iterdir()} == {"outside", "root"}
        assert not [each for each in root.rglob("*.tmp") if each.name.startswith(".")]
