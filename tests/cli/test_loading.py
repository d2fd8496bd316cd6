"""Finding the server in a file."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from splice.cli.loading import load_server, split
from splice.cli.outcomes import FAILED, USAGE, Stop

ONE = "from splice import Server\nserver = Server('one')\n"


@pytest.fixture(autouse=True)
def _own_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if not name.startswith("splice"):
            del sys.modules[name]


def file(directory: Path, text: str, name: str = "shop.py") -> str:
    path = directory / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("server.py", ("server.py", None)),
        ("server.py:shop", ("server.py", "shop")),
        ("a:b/server.py:x.y", ("a:b/server.py", "x.y")),
        ("C:\\server.py", ("C:\\server.py", None)),
        ("server", ("server", None)),
        ("shop.main:server", ("shop.main", "server")),
        ("shop:box.server", ("shop", "box.server")),
        ("shop:", ("shop:", None)),
        ("a b:c", ("a b:c", None)),
    ],
)
def test_file_and_object(target: str, parts: tuple[str, str | None]) -> None:
    assert split(target) == parts


def test_the_only_server_is_found_under_any_name(tmp_path: Path) -> None:
    assert load_server(file(tmp_path, ONE + "again = server\n")).name == "one"


def test_a_server_can_be_named(tmp_path: Path) -> None:
    text = ONE + "class Box:\n    inner = Server('two')\n"
    target = file(tmp_path, text)
    assert load_server(f"{target}:server").name == "one"
    assert load_server(f"{target}:Box.inner").name == "two"


def test_a_file_finds_its_neighbours_and_keeps_stdout_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file(tmp_path, "NAME = 'neighbour'\n", "near_by.py")
    text = "print('hello')\nfrom near_by import NAME\nfrom splice import Server\nserver = Server(NAME)\n"
    assert load_server(file(tmp_path, text)).name == "neighbour"
    assert capsys.readouterr() == ("", "hello\n")


def test_what_child_processes_print_while_it_is_loaded_goes_to_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "import os, subprocess\nos.write(1, b'raw\\n')\nsubprocess.run(['echo', 'child'])\n"
    load_server(file(tmp_path, text + ONE))
    assert capfd.readouterr() == ("", "raw\nchild\n")
    os.write(1, b"after\n")
    assert capfd.readouterr() == ("after\n", "")


def test_a_file_named_like_a_module_in_use_hides_nothing(tmp_path: Path) -> None:
    before = sys.modules["json"] if "json" in sys.modules else __import__("json")
    assert load_server(file(tmp_path, ONE, "json.py")).name == "one"
    assert sys.modules["json"] is before


@pytest.mark.parametrize(
    ("text", "suffix", "code", "message"),
    [
        ("x = 1\n", "", USAGE, "has no splice.Server"),
        (ONE + "other = Server('two')\n", "", USAGE, "several servers: other, server"),
        (ONE, ":nope", USAGE, "has no 'nope'; there is server"),
        (ONE + "x = 1\n", ":x", USAGE, "something else than a splice.Server under 'x'"),
        ("x = 1\n", ":nope", USAGE, "has no 'nope'$"),
        ("def make(): return 1\n", ":make", USAGE, "returns a int, no splice.Server, from 'make'"),
        ("def make():\n  1 / 0\n", ":make", FAILED, "ZeroDivisionError: .* \\(line 2"),
        ("x = (\n", "", FAILED, "SyntaxError: .* \\(line 1"),
        ("x = 1\n1 / 0\n", "", FAILED, "ZeroDivisionError: .* \\(line 2"),
        ("import nothing_like_this\n", "", FAILED, "ModuleNotFoundError: .*nothing_like_this"),
        ("raise SystemExit(3)\n", "", FAILED, "ended itself"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(
    tmp_path: Path, text: str, suffix: str, code: int, message: str
) -> None:
    with pytest.raises(Stop, match=message) as caught:
        load_server(file(tmp_path, text) + suffix)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["nowhere.py", "nowhere", "."])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(Stop, match="there is no file") as caught:
        load_server(str(tmp_path / name))
    assert caught.value.code == USAGE


def test_what_is_no_python(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="is not a Python file"):
        load_server(file(tmp_path, "text", "notes.txt"))


def test_a_function_may_make_the_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "from splice import Server\ndef make():\n    print('made')\n    return Server('made')\n"
    assert load_server(file(tmp_path, text) + ":make").name == "made"
    assert capsys.readouterr() == ("", "made\n")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Make a package with a server in it that imports its neighbours."""
    inner = tmp_path / "stall" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "stall" / "__init__.py").write_text("")
    file(tmp_path / "stall", "NAME = 'relative'\n", "names.py")
    file(inner, "", "__init__.py")
    file(inner, "from splice import Server\nfrom ..names import NAME\nserver = Server(NAME)\n", "main.py")
    return inner


@pytest.mark.parametrize("suffix", ["", ":server"])
def test_a_file_in_a_package_may_import_its_neighbours(package: Path, suffix: str) -> None:
    assert load_server(f"{package / 'main.py'}{suffix}").name == "relative"


def test_a_package_of_the_name_of_another_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "json").mkdir()
    file(tmp_path / "json", "", "__init__.py")
    assert load_server(file(tmp_path / "json", ONE, "main.py")).name == "one"


def test_a_module_is_found_from_here(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(package.parent.parent)
    assert load_server("stall.inner.main:server").name == "relative"


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("no_such_module:server", USAGE, "there is no module 'no_such_module'"),
        ("stall.nope:server", USAGE, "there is no module 'stall.nope'"),
        ("stall.inner.main:nope", USAGE, "stall.inner.main has no 'nope'; there is server"),
        ("stall.needs:server", FAILED, "stall.needs:server does not load: ModuleNotFoundError: .*nothing_like_this"),
    ],
)
def test_a_module_without_a_server_is_told_in_one_line(
    package: Path, monkeypatch: pytest.MonkeyPatch, target: str, code: int, message: str
) -> None:
    monkeypatch.chdir(package.parent.parent)
    file(package.parent, "import nothing_like_this\n", "needs.py")
    with pytest.raises(Stop, match=message) as caught:
        load_server(target)
    assert caught.value.code == code
