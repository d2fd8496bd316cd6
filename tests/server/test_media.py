"""Images, sounds and files as results: from bytes and from paths."""

from pathlib import Path

import pytest

from splice import Audio, File, Image
from splice.protocol.content import AudioContent, EmbeddedResource, ImageContent
from splice.server.handlers import block_of, contents_of


def test_an_image_knows_its_type_from_what_is_said_then_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "x.jpeg"
    path.write_bytes(b"jpeg")
    assert Image(path).block() == ImageContent(data="anBlZw==", mime_type="image/jpeg")
    assert Image(str(path), "image/x").block().mime_type == "image/x"
    assert Image(b"x").block().mime_type == "image/png"
    assert Image(tmp_path / "x.jpeg").kind() == "image/jpeg"


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


def test_what_stands_for_no_content_is_none() -> None:
    assert block_of("text") is None
    assert block_of(None) is None


def test_contents_are_written_by_the_first_type_that_is_known() -> None:
    assert contents_of("x:y", Image(b"p"), None).mime_type == "image/png"
    assert contents_of("x:y", Image(b"p"), "image/x").mime_type == "image/x"
