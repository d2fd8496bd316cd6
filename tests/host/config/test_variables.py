"""Variables: expanded once, at the start; one that is not set fails its server only."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from splice.host.config.entries import Entry
from splice.host.config.inputs import Input, Inputs
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import entry_of
from splice.host.config.variables import expanded, filled, missing, secrets_in

ENVIRON = {"A": "a", "EMPTY": "", "NESTED": "${A}", "KEY": "sesame-open"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}/${env:A}/$A", "a/a/$A"),
        ("${NESTED}", "${A}"),
        ("$${A} ${A}", "${A} a"),
        ("${NO:-d}${EMPTY:-e}${A:-f}${NO:-}", "dea"),
        ("${NO:-https://x:1/}", "https://x:1/"),
        ("${workspaceFolder}${/}x${pathSeparator}${workspaceFolderBasename}", f"/the/folder{os.sep}x{os.sep}folder"),
        ("${userHome}", str(Path.home())),
        ("${input:id} ${unclosed", "typed ${unclosed"),
    ],
)
def test_what_is_expanded(text: str, result: str) -> None:
    entry = entry_of(
        "s", {"command": text, "args": [text], "env": {"E": text}, "cwd": text}, folder=Path("/the/folder")
    )
    made = filled(entry, {"id": "typed"}, ENVIRON)
    assert (made.command, made.args, made.env, made.cwd) == (result, (result,), {"E": result}, result)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://${NO}", "the variable NO is not set"),
        ("http://${env:NO}", "the variable NO is not set"),
        ("http://${A:-${B}}", "not a variable that can be expanded"),
        ("http://${command:x}", "not a variable that can be expanded"),
        ("http://${}", "not a variable that can be expanded"),
        ("http://${input:x}", "needs a value for the input 'x'"),
        ("unix:///x", "neither http nor https"),
    ],
)
def test_what_fails_its_server(text: str, message: str) -> None:
    with pytest.raises(BadConfiguration, match=message):
        filled(Entry(name="s", transport="http", url=text), {}, ENVIRON)


def test_missing_variables_are_known_before_the_start() -> None:
    entry = entry_of(
        "s", {"command": "${A}", "args": ["${NO}", "${NO2:-x}", "${userHome}"], "env": {"E": "${env:NO3}"}}
    )
    assert missing(entry, ENVIRON) == ["NO", "NO3"]


def test_an_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# c\nexport A=1\nB = 'x # y'\nC=\"a\\nb\"\nD=x # c\nA.B=${A}\nnonsense\nKEY=theirs\n"
    )
    entry = entry_of("s", {"command": "x", "envFile": ".env", "env": {"KEY": "${KEY}"}}, folder=tmp_path)
    assert filled(entry, {}, ENVIRON).env == {
        "A": "1",
        "B": "x # y",
        "C": "a\nb",
        "D": "x",
        "A.B": "${A}",
        "KEY": "sesame-open",
    }
    for name in ("gone", "."):
        with pytest.raises(BadConfiguration, match=r"its envFile .*: "):
            filled(entry_of("s", {"command": "x", "envFile": name}, folder=tmp_path), {}, ENVIRON)


def test_what_looks_like_a_secret_is_known_as_one() -> None:
    raw = {
        "command": "x",
        "args": ["--key=${KEY}", "--plain", "${A}"],
        "env": {"API_TOKEN": "literal-token", "TZ": "Europe/Berlin"},
    }
    entry = entry_of("s", raw)
    assert secrets_in(entry, filled(entry, {}, ENVIRON)) == ["literal-token", "sesame-open"]


def test_inputs_are_asked_for_once_and_kept_for_the_user_only(tmp_path: Path) -> None:
    asked: list[str] = []
    path, source = tmp_path / "state/inputs.json", tmp_path / "mcp.json"
    defined = [
        Input("key", password=True, source=source),
        Input("env", options=("dev", "prod"), default="dev", source=source),
    ]

    async def ask(input: Input) -> str | None:
        asked.append(input.id)
        return "sesame" if input.id == "key" else "other"

    entry = entry_of("s", {"command": "${input:key}", "args": ["${input:key}"]}, source=source)

    async def check() -> None:
        for _ in range(2):
            made = await expanded(entry, Inputs(path, defined, ask).value)
            assert made.words == ["sesame", "sesame"]
        assert asked == ["key"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        inputs = Inputs(path, defined, ask)
        with pytest.raises(BadConfiguration, match="is one of dev, prod"):
            await inputs.value(entry, "env")
        with pytest.raises(BadConfiguration, match="its file does not define"):
            await inputs.value(entry, "strange")
        assert await Inputs(path, defined).value(entry, "env") == "dev"
        inputs.forget(source, "key")
        with pytest.raises(BadConfiguration, match="nobody gave one"):
            await Inputs(path, defined).value(entry, "key")
        path.write_text("{damaged")
        assert await inputs.value(entry, "key") == "sesame"
        assert path.with_name("inputs.json.damaged").read_text() == "{damaged"

    asyncio.run(check())


@pytest.mark.parametrize(
    ("raw", "secrets"),
    [
        ({"url": "https://h.example/mcp?x=${KEY}&y=1"}, ["sesame-open"]),
        ({"url": "https://h.example/mcp?api_key=literal-key"}, ["literal-key"]),
        ({"url": "https://u:my-password@h.example/"}, ["my-password"]),
        ({"command": "x", "args": ["a${A}b${KEY}", "${KEY}${A}$${"]}, ["sesame-open"]),
        ({"command": "x", "args": ["--db", "postgres://me:open-sesame@h/db"]}, ["open-sesame"]),
        ({"command": "x", "env": {"DATABASE_URL": "mysql://me:open-sesame@h/db?x=1"}}, ["open-sesame"]),
        ({"url": "https://h.example/", "oauth": {"clientSecret": "${KEY}"}}, ["sesame-open"]),
    ],
)
def test_a_secret_is_blotted_out_wherever_it_stands(raw: dict[str, Any], secrets: list[str]) -> None:
    entry = entry_of("s", raw)
    assert set(secrets) <= set(secrets_in(entry, filled(entry, {}, ENVIRON)))


def test_a_long_line_of_an_env_file_is_read_in_time(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"A=b\u2028PATH=c{' ' * 200_000}d # no\n")
    entry = entry_of("s", {"command": "x", "envFile": ".env"}, folder=tmp_path)
    assert list(filled(entry, {}, ENVIRON).env) == ["A"]
