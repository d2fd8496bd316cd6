"""Itineraries are written below a root of the client's, and nowhere else."""

import os
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from examples.travel import itinerary

from splice import Client, ToolError
from splice.types import Root
from travel.agency import FLIGHT, User, agency, client_of, refused, roots

ERAS = ["modern", "legacy"]


async def booked(client: Client) -> str:
    result = await client.call_tool("bookFlight", {"flight": FLIGHT})
    return str(result.structured_content["reference"])


def tree(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("era", ERAS)
async def test_a_file_is_written_once_unless_told_otherwise(tmp_path: Path, era: str) -> None:
    first, second = tmp_path / "first", tmp_path / "a second one"
    first.mkdir()
    second.mkdir()
    async with client_of(agency(tmp_path), era, User(), roots=roots(first, second)) as client:
        reference = await booked(client)

        async def write(**given: Any) -> Any:
            return await client.call_tool("writeItinerary", {"reference": reference, **given})

        result = await write()
        assert result.structured_content["uri"] == (first / "itinerary.md").as_uri()
        assert result.structured_content["size"] == (first / "itinerary.md").stat().st_size
        assert not (await write()).is_error  # it says the same
        (first / "itinerary.md").write_text("mine")
        assert "is there already" in (await write()).text
        assert not (await write(overwrite=True)).is_error
        named = await write(root="a second one", file="x/ü 1.md")
        assert named.structured_content["uri"] == (second / "x" / "ü 1.md").as_uri()
        assert not (await write(root=second.as_uri(), file="y.md")).is_error
        assert "is none of the client's roots: first, a second one" in (await write(root="third")).text
        assert "There is no booking" in (await client.call_tool("writeItinerary", {"reference": "X"})).text
    assert tree(first).keys() == {"itinerary.md"}
    assert tree(second).keys() == {"x/ü 1.md", "y.md"}
    assert b"mine" not in tree(first)["itinerary.md"]


OUTSIDE = [
    "../out.md",
    "a/../../out.md",
    "/tmp/out.md",
    "..\\out.md",
    "~/out.md",
    "out\0.md",
    "out\n.md",
    "out.sh",
    ".md/..",
    ".",
    "/".join("d" * 20) + ".md",
    "link/out.md",
    "chain/deep/out.md",
    "pipe.md/out.md",
    "n" * 300 + ".md",
]


@pytest.mark.parametrize("overwrite", [False, True])
async def test_nothing_is_written_outside_of_the_root(tmp_path: Path, *, overwrite: bool) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    (outside / "deep").mkdir(parents=True)
    (outside / "target.md").write_text("theirs")
    (root / "link").symlink_to(outside)
    (root / "chain").symlink_to("link")
    (root / "itinerary.md").symlink_to(outside / "target.md")
    os.mkfifo(root / "pipe.md")
    async with client_of(agency(tmp_path), "modern", User(), roots=roots(root)) as client:
        given = {"reference": await booked(client), "overwrite": overwrite}
        for file in OUTSIDE:
            result = await client.call_tool("writeItinerary", {**given, "file": file})
            assert result.is_error, file
            assert str(tmp_path) not in result.text
        result = await client.call_tool("writeItinerary", given)  # where a link is
        assert bool(result.is_error) is not overwrite
        assert (root / "itinerary.md").is_symlink() is not overwrite
    assert tree(outside) == {"target.md": b"theirs"}
    assert [name for name in tree(root) if name.endswith(".tmp")] == []


def test_a_directory_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path) -> None:
    """Somebody else puts a link in the place of the directory, again and again."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    place, done = root / "trips", threading.Event()
    root.mkdir()
    outside.mkdir()

    def swap() -> None:
        for number in count():
            with suppress(OSError):
                place.rename(root / f"old{number}")
            with suppress(OSError):
                place.symlink_to(outside)
            with suppress(OSError):
                place.unlink()
            if done.is_set():
                return

    swapper = threading.Thread(target=swap)
    swapper.start()
    for _ in range(500):
        with suppress(ToolError):
            itinerary.write_below(str(root), ("trips", "x.md"), b"x", overwrite=True)
    done.set()
    swapper.join(10)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_directory_of_the_client_nothing_is_written(tmp_path: Path, era: str) -> None:
    server = agency(tmp_path)
    odd = ["file://elsewhere/a", (tmp_path / "gone").as_uri(), "file:///a%00b"]
    async with client_of(server, era, User()) as client:
        reference = await booked(client)
    for uri in odd:
        async with client_of(server, era, User(), roots=[Root(uri=uri)]) as client:
            result = await client.call_tool("writeItinerary", {"reference": reference})
            assert result.is_error, uri
    async with client_of(server, era, User()) as client:
        assert "roots" in await refused(client, "writeItinerary", reference=reference)
