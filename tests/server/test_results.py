"""Images, sounds and files as results: from bytes and from paths."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from splice import Audio, File, Image, Server
from splice.protocol.content import AudioContent, EmbeddedResource, ImageContent, ResourceContents, TextContent
from splice.server.results import Media, block_of, contents_of
from support.caller import Caller
from support.tables import rows


def test_an_image_knows_its_type_from_what_is_said_then_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "x.jpeg"
    path.write_bytes(b"jpeg")
    assert Image(path).block() == ImageContent(data="anBlZw==", mime_type="image/jpeg")
    assert Image(str(path), "image/x").block().mime_type == "image/x"
    assert Image(b"x").block().mime_type == "image/png"
    assert Image(tmp_path / "x.jpeg").mime_type == "image/jpeg"


def test_a_sound_likewise(tmp_path: Path) -> None:
    path = tmp_path / "x.mp3"
    path.write_bytes(b"mp3")
    assert Audio(path).block() == AudioContent(data="bXAz", mime_type="audio/mpeg")
    assert Audio(b"x").block().mime_type == "audio/wav"


def test_a_file_is_text_where_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "a b.txt"
    path.write_text("é", encoding="utf-8")
    block = File(path).block()
    assert isinstance(block, EmbeddedResource)
    assert block.resource.uri == path.as_uri()
    assert block.resource.text == "é"
    path.write_bytes(b"\xff")
    assert File(path).block().resource.blob == "/w=="
    assert File(b"x").block().resource.uri == "file:///unnamed"
    assert File(b"x").block().resource.mime_type == "application/octet-stream"


def test_a_file_that_is_not_there_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Image(tmp_path / "nope.png").block()


def test_what_stands_for_no_content_becomes_text() -> None:
    assert block_of("text") == TextContent(text="text")
    assert block_of(None) == TextContent(text="null")


def test_contents_are_written_by_the_first_type_that_is_known() -> None:
    assert contents_of("x:y", Image(b"p"), None).mime_type == "image/png"
    assert contents_of("x:y", Image(b"p"), "image/x").mime_type == "image/x"


@rows(
    ("media", "kind"),
    [
        (Image(data=b"x", format="png"), "image/png"),
        (Image(data=b"x", format="jpg"), "image/jpeg"),
        (Image(path="a.gif"), "image/gif"),
        (Image(path="a.gif", format="webp"), "image/webp"),
        (Audio(data=b"x", format="mp3"), "audio/mpeg"),
        (Audio(data=b"x", format="wav"), "audio/wav"),
        (File(data=b"x", format="pdf"), "application/pdf"),
        (File(data=b"x", format="txt"), "text/plain"),
        (File(data=b"x", format="odd1"), "application/odd1"),
        (Image(b"x", "image/x", format="png"), "image/x"),
        (Image(b"x", format="image/png"), "image/png"),
        (File(b"x", format="text/csv"), "text/csv"),
        (Audio("a.webm", "audio/webm"), "audio/webm"),
    ],
)
def test_names_that_people_know(media: Image | Audio | File, kind: str) -> None:
    assert media.mime_type == kind


@pytest.mark.parametrize("make", [Image, Audio, File])
def test_media_are_made_of_one_thing(make: Any) -> None:
    for given in ({}, {"data": b"x", "path": "y"}, {"source": b"", "data": b""}):
        with pytest.raises(TypeError, match=rf"^{make.__name__} takes bytes or a path"):
            make(**given)
    with pytest.raises(ValueError, match=r"takes a MIME type such as .*, not 'png'; say mime_type= or format=,"):
        make(b"x", "png")


@pytest.mark.parametrize(
    ("make", "given", "kind"),
    [
        (Image, {"source": "mcp.json"}, "application/json"),
        (Image, {"source": b"x", "format": "mp3"}, "audio/mpeg"),
        (Audio, {"source": b"x", "mime_type": "image/png"}, "image/png"),
    ],
)
def test_an_image_is_not_a_sound_nor_another_file(make: Any, given: Any, kind: str) -> None:
    with pytest.raises(
        ValueError, match=f"{make.__name__} takes .*, not '{kind}'; say mime_type= .*, or send it as File"
    ):
        make(**given)


def test_a_relative_path_tells_its_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("sub/a.txt").write_text("x", encoding="utf-8")
    assert File("sub/a.txt").block().resource.uri == "file:///a.txt"
    assert File("sub/a.txt", uri="x:y").block().resource.uri == "x:y"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=f"^{path.name} is not a regular file$"):
            File(path).read()


async def test_files_are_read_on_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, threads = tmp_path / "a.txt", list[int]()
    path.write_text("x", encoding="utf-8")
    picture = tmp_path / "a.png"
    picture.write_bytes(b"png")
    read = Media.read

    def noting(self: Media) -> bytes:
        if not isinstance(self.source, bytes):
            threads.append(threading.get_ident())
        return read(self)

    monkeypatch.setattr(Media, "read", noting)
    server = Server("s")

    @server.tool
    async def one() -> File:
        return File(path)

    @server.tool
    async def several() -> list[Any]:
        return ["a", Image(picture), File(b"b")]

    server.add_resource(one, "x://one")
    server.add_prompt(several)
    caller = await Caller(server).open()
    assert (await caller.call("one"))["content"][0]["resource"]["text"] == "x"
    assert [each["type"] for each in (await caller.call("several"))["content"]] == ["text", "image", "resource"]
    assert (await caller.result("resources/read", {"uri": "x://one"}))["contents"][0]["text"] == "x"
    assert len((await caller.result("prompts/get", {"name": "several"}))["messages"]) == 3
    assert len(threads) == 4
    assert threading.get_ident() not in threads


def test_what_is_embedded_has_a_mime_type() -> None:
    for contents, kind in (
        (ResourceContents(uri="x:y", text="t"), "text/plain"),
        (ResourceContents(uri="x:y", blob=""), "application/octet-stream"),
        (ResourceContents(uri="x:y", text="t", mime_type="text/x"), "text/x"),
    ):
        for value in (contents, EmbeddedResource(resource=contents)):
            block = block_of(value)
            assert isinstance(block, EmbeddedResource)
            assert block.resource.mime_type == kind
