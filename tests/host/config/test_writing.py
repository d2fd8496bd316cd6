"""Servers put into files of any shape, and taken out again."""

from pathlib import Path

import pytest

from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import read
from splice.host.config.writing import Taken, put, remove


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"old": {"command": "x", "odd": [1]}}, "theme": "d"}',
        '// VS Code\n{\n\t"inputs": [], // none\n\t"servers": {\n\t\t"old": {"command": "x"}, // mine\n\t},\n}\n',
    ],
)
def test_a_server_comes_and_goes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "real.json"
    path.write_text(text)
    path.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    put(link, "new", {"command": "y"})
    with pytest.raises(Taken, match="has a server 'new' already"):
        put(link, "new", {"command": "z"})
    put(link, "new", {"command": "z"}, force=True)
    assert [(each.name, each.command) for each in read(path, "user").entries] == [("old", "x"), ("new", "z")]
    assert (link.is_symlink(), path.stat().st_mode & 0o777) == (True, 0o640)
    assert remove(link, "new")
    assert not remove(link, "new")
    assert path.read_text() == text


def test_a_deep_place_and_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "new/mcp.json"
    put(path, "a", {"command": "x"}, key=["projects", "/p", "mcpServers"])
    assert [each.name for each in read(path, "user", cwd=Path("/p")).entries] == ["a"]
    assert remove(path, "a", key=["projects", "/p", "mcpServers"])
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_cannot_be_kept_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    for text, message in (
        ("{", "line 1, column 2"),
        ("[]", "no object 'mcpServers'"),
        ('{"servers": 5}', "no object 'servers'"),
    ):
        path.write_text(text)
        with pytest.raises(BadConfiguration, match=f"{message}.*it was left as it is"):
            put(path, "a", {"command": "x"})
        assert path.read_text() == text
