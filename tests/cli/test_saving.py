"""`--output`: what is not text goes to files."""

import sys
from pathlib import Path

import pytest

from cli.conftest import SERVER, Splice
from splice.cli.outcomes import FAILED, OK, Stop
from splice.cli.saving import binaries, save
from splice.types import AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents, TextContent


def test_a_picture_is_saved(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    done = splice("call", SERVER, "picture", "--output", str(path))
    assert (done.code, done.out) == (OK, "[image: image/png, 3 bytes]\n")
    assert done.err == f"wrote {path} (3 bytes)\n"
    assert path.read_bytes() == b"123"


def test_a_resource_is_saved_text_or_not(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert splice("read", SERVER, "shop://bytes", "--output", str(path))[:2] == (OK, "")
    assert path.read_bytes() == b"\x00\xff\x1b"
    assert splice("read", SERVER, "shop://evil", "--json", "--output", str(path)).json["contents"]
    assert path.read_bytes() == b"a\x1b[31mb\n"


def test_what_a_prompt_embeds_is_named_and_saved(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    done = splice("prompt", SERVER, "look", "--output", str(path))
    assert done.out == "user: [image: image/png, 3 bytes]\n\nuser: [resource shop://evil]\na\\x1b\n"
    assert path.read_bytes() == b"123"


def test_text_only_is_told(splice: Splice, tmp_path: Path) -> None:
    done = splice("call", SERVER, "add", "a=1", "--output", str(tmp_path / "a"))
    assert (done.code, done.out) == (FAILED, "2\n")
    assert "nothing to write" in done.err


def test_several_are_numbered(tmp_path: Path) -> None:
    blocks: list[ContentBlock] = [
        TextContent(text="a"),
        ImageContent(data="MQ==", mime_type="image/png"),
        AudioContent(data="Mg==", mime_type="audio/wav"),
        EmbeddedResource(resource=ResourceContents(uri="a://b", blob="Mw==")),
        EmbeddedResource(resource=ResourceContents(uri="a://b", text="c")),
    ]
    save(str(tmp_path / "x.y.bin"), binaries(blocks))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "x.y-1.bin": b"1",
        "x.y-2.bin": b"2",
        "x.y-3.bin": b"3",
    }


def test_a_resource_that_is_no_base64_is_told_in_a_pipe_too(splice: Splice) -> None:
    done = splice("read", "a://b", "--", sys.executable, str(Path(__file__).with_name("hostile_server.py")), "blob")
    assert (done.code, done.out) == (FAILED, "")
    assert "something else than base64" in done.err


@pytest.mark.parametrize(
    ("output", "data", "message"), [("no/where", "MQ==", "cannot write"), ("a", "M", "something else than base64")]
)
def test_what_cannot_be_saved(tmp_path: Path, output: str, data: str, message: str) -> None:
    with pytest.raises(Stop, match=message):
        save(str(tmp_path / output), [data])
