"""`splice host run`, `chat`, `log`, `models` and `web`: never hanging, never allowing what nobody allowed."""

import asyncio
import io
import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from cli.conftest import Splice
from cli.hosting import place, shop
from cli.test_host_mcp import home
from splice.cli.outcomes import DENIED, FAILED, OK, UNREACHABLE, USAGE
from splice.host.asking.permissions import Permissions
from splice.host.board import Board
from splice.host.places import Places
from splice.transports.http.listener import bound

__all__ = ["home"]


@pytest.fixture
def ready(splice: Splice, home: Path) -> Path:
    """Have a shop."""
    assert splice("host", "mcp", "add-json", "shop", json.dumps(shop())).code == OK
    return home


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_nobody_allowed_is_denied_and_what_is_allowed_is_done(splice: Splice, ready: Path) -> None:
    done = splice("host", "run", "-p", "add a=2 b=3")
    assert done.code == DENIED
    assert "error  not allowed: shop/add would be asked about (no rule)" in done.err
    assert "mend   --allow shop/add allows a tool, " in done.err
    assert "note   the demo model answers, by rules: it is no AI." in done.err
    done = splice("host", "run", "-p", "add a=2 b=3", "--allow", "shop/add", "--output", "json")
    assert (done.code, done.err) == (OK, "")
    told = done.json
    assert [(each["tool"], each["state"], each["structured"]) for each in told["calls"]] == [("add", "done", 5)]
    assert (told["model"]["is_ai"], told["ok"]) == (False, True)
    denied = splice(
        "host", "run", "-p", "add a=2 b=3", "--allow", "shop/*", "--deny", "*/add", "--output", "stream-json"
    )
    assert denied.code == DENIED
    events = lines(denied.out)
    assert [each["number"] for each in events] == list(range(1, len(events) + 1))
    kinds = [each["kind"] for each in events]
    assert kinds.index("call") < len(kinds) - 1 - kinds[::-1].index("message"), "the answer comes after its call"
    assert (events[-1]["kind"], events[-1]["status"]) == ("end", DENIED)
    logged = splice("host", "log", told["chat"][:6])
    assert "call" in logged.out
    assert "shop" in logged.out
    assert lines(splice("host", "log", "--export", "jsonl").out)[0]["kind"] == "host"
    assert "nothing of that is in the log; there are call, host, " in splice("host", "log", "--kind", "cal").err
    assert told["chat"] in splice("host", "log", "zzz").err
    assert splice("host", "log", "--export", "html").out.startswith("<!doctype html>")


def test_chat_goes_on_line_by_line_in_a_pipe(splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Face:
        __name__ = "a.plain"

        async def run(self, host: Any, **_: Any) -> int:
            asked.append(host.chat.id)
            if len(asked) == 1:
                await host.say("hello")
                await host.wait()
            return 0

    monkeypatch.setattr("splice.cli.host_chat.face_of", lambda **_: Face())
    done = splice("host", "chat")
    assert done.code == OK
    assert "note   no servers are configured" in done.err
    assert f'chat "hello" is kept. Go on: splice host chat --resume {asked[0][:4]}' in done.err
    assert splice("host", "chat", "--resume", asked[0][:4]).code == OK
    assert splice("host", "chat", "--resume").code == OK
    assert asked == [asked[0]] * 3
    assert "There is no chat zzzz" in splice("host", "chat", "--resume", "zzzz").err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["-p", " "], USAGE, "there is nothing to say"),
        (["-p", "-"], USAGE, "there is nothing to say"),
        (["-p", "x", "a=b"], USAGE, "what is 'a=b'?"),
        (["-p", "/nope"], USAGE, "there is no prompt nope"),
        (["-p", "/nope a"], USAGE, "'a' is not of the form key=value"),
        (["-p", "x", "--model", "nope"], USAGE, "There is no model 'nope'"),
        (["-p", "x", "--server", "nope"], USAGE, "there is no server 'nope'"),
        (["-p", "x", "--answers", "no.json"], USAGE, "there is no file 'no.json'"),
        (["-p", "x", "--answers", "list.json"], USAGE, "list.json is not a JSON object"),
        (["-p", "x", "--answers", "odd.json"], USAGE, "'forms' is not a kind of question"),
        (["-p", "x", "--allow", "*"], USAGE, "--allow: '*' is not what a rule is about: write server/tool, server/*"),
        (["-p", "x", "--allow", "*/*"], USAGE, "only a rule that denies may have * there"),
        (["-p", "x", "--server", "gone"], UNREACHABLE, "gone cannot be started"),
        (["-p", "x", "--server", "strange"], DENIED, "strange is not trusted yet"),
        (["-p", "x", "--config", ".cursor.json"], UNREACHABLE, "no server is connected"),
        (["-p", "x", "--max-calls", "0"], USAGE, "--max-calls"),
    ],
)
def test_wrong_usage(
    splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch, words: Sequence[str], code: int, said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    Path("list.json").write_text("[]")
    Path("odd.json").write_text('{"forms": {}}')
    Path(".cursor.json").write_text('{"mcpServers": {"gone": {"command": "not-there-at-all"}}}')
    place(Path.cwd(), strange={"command": "x"})
    splice("host", "mcp", "add", "gone", "--", "not-there-at-all")
    done = splice("host", "run", *words)
    assert done.code == code, done.err
    assert said in done.err


def test_an_error_among_lines_is_a_line(splice: Splice, home: Path) -> None:
    done = splice("host", "run", "-p", "x", "--model", "nope", "--output", "stream-json")
    assert (done.code, len(done.out.splitlines())) == (USAGE, 1)
    assert (done.json["kind"], done.json["ok"], done.json["error"]["code"]) == ("error", False, "usage")


def test_a_value_that_a_file_leaves_open_is_asked_for_by_its_name(splice: Splice, home: Path) -> None:
    path = place(Path.cwd(), shop=shop(env={"T": "${input:tok}"}))
    path.write_text(
        path.read_text().rstrip().removesuffix("}") + ', "inputs": [{"id": "tok", "type": "promptString"}]}'
    )
    told = splice("host", "mcp", "get", "shop", "--json").json
    assert splice("host", "mcp", "trust", "shop", "--yes", told["fingerprint"]).code == OK
    denied = splice("host", "run", "-p", "hello")
    assert denied.code in (DENIED, UNREACHABLE)
    assert "shop: it needs a value for the input 'tok', and nobody gave one: `splice host mcp test shop`" in denied.err
    assert ".mcp.json needs a value: tok" in denied.err
    Path("answers.json").write_text('{"form": {"tok": "open sesame"}}')
    words = ["-p", "add a=2 b=3", "--allow", "shop/add", "--answers", "answers.json"]
    assert splice("host", "run", *words).code == OK


def test_models_and_the_log_begin_empty(splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert splice("host", "models", "--no-header").out.startswith("demo\tDemo model (no AI)\t")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    models = splice("host", "models", "--json").json["models"]
    assert {each["is_ai"] for each in models} == {True, False}
    assert [each["id"] for each in models if each["is_chosen"]] == ["demo"]
    assert "there is no log yet" in splice("host", "log").err


@pytest.mark.parametrize(("name", "extra"), [("chat", "host"), ("web", "web")])
def test_a_face_without_its_extra_says_how_to_install_it(
    splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    def absent(_: str) -> None:
        raise ModuleNotFoundError("no", name="textual.app")

    monkeypatch.setattr("splice.cli.host_faces.import_module", absent)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("SPLICE_PLAIN", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    done = splice("host", name)
    assert done.code == FAILED
    assert f"needs textual, which is not installed\nmend   pip install 'splice[{extra}]'" in done.err


def test_the_page_is_served_until_it_ends(splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[int, bool]] = []

    class Face:
        async def run(self, host: Any, port: int, opens: bool, proposed: Any) -> int:
            assert host.chat
            assert proposed == {}
            served.append((port, opens))
            if port:
                raise OSError(98, "Address already in use")
            return 0

    monkeypatch.setattr("splice.cli.host_web.serving", Face)
    assert splice("host", "web", "--no-browser").code == OK
    done = splice("host", "web", "--port", "9")
    assert (done.code, served) == (FAILED, [(0, False), (9, True)])
    assert "error  port 9 cannot be used: Address already in use\nmend   --port takes another\n" in done.err


def test_a_chat_is_on_a_page_too_and_each_link_opens_one_browser(
    splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def status(address: str) -> int:
        try:
            with urlopen(address, timeout=10) as answer:
                return int(answer.status)
        except HTTPError as error:
            return error.code

    class Face:
        __name__ = "an.app"

        async def run(self, _: Any, page: Any, address: str) -> int:
            assert address == opened[0]
            first = opened[0]
            again = await page()
            assert [await asyncio.to_thread(status, each) for each in (first, again, again)] == [403, 200, 403]
            assert urlsplit(first).netloc == urlsplit(again).netloc
            return 0

    monkeypatch.setattr("splice.cli.host_chat.face_of", lambda **_: Face())
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = splice("host", "chat", "--web")
    assert (done.code, len(opened)) == (OK, 2)
    assert f"the same is at {opened[0]}, which opens one browser, once" in done.err
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", urlsplit(opened[0]).port or 0), timeout=10)
    with bound("127.0.0.1", 0) as taken:
        done = splice("host", "chat", "--web", "--port", str(taken.getsockname()[1]))
    assert done.code == FAILED
    assert "choose another port" in done.err


def test_a_server_that_the_turn_does_not_need_changes_nothing(splice: Splice, ready: Path) -> None:
    place(Path.cwd(), strange={"command": "x"})
    done = splice("host", "run", "-p", "add a=2 b=3", "--allow", "shop/add")
    assert done.code == OK
    assert "warning  strange: " in done.err
    assert (
        "note   nobody answered, and the turn went on without: strange: nothing was prepared for its trust" in done.err
    )
    done = splice("host", "run", "-p", "add a=2 b=3", "--allow", "shop/ad", "--output", "json")
    assert done.code == DENIED
    assert "warning  --allow shop/ad: there is no such tool; there are shop/add" in done.err
    assert done.json["unanswered"] == ["strange: nothing was prepared for its trust"]


def test_a_rule_about_no_server_is_an_error(splice: Splice, ready: Path) -> None:
    done = splice("host", "run", "-p", "add a=2 b=3", "--allow", "shpo/*")
    assert done.code == USAGE
    assert "error  --allow: 'shpo/*' is about no server that is configured; there are shop\n" in done.err
    assert splice("host", "run", "-p", "x", "--deny", "reads shopp").code == USAGE
    assert splice("host", "run", "-p", "x", "--deny", "sh*/add").code == OK


MODEL = """
from splice.host.models.base import Stop, Text

class Loud:
    id = label = provider = "loud"
    is_ai, where, window = False, "on this computer", 8_000

    async def stream(self, params):
        yield Text("LOUD")
        yield Stop("endTurn")

def broken():
    raise RuntimeError("no luck")
"""


def test_a_model_may_be_in_a_file_of_ones_own(splice: Splice, home: Path) -> None:
    Path("own.py").write_text(MODEL)
    Path("odd.py").write_text("1 / 0")
    done = splice("host", "run", "-p", "x", "--model", "own.py:Loud")
    assert (done.code, done.out) == (OK, "LOUD\n")
    for name, said in {
        "own.py:Quiet": "Quiet: own.py:Quiet does not exist",
        "own.py:broken": "broken cannot be made: RuntimeError: no luck",
        "odd.py:Model": "odd.py cannot be run: ZeroDivisionError",
        "none.py:Model": "There is no file none.py",
    }.items():
        done = splice("host", "run", "-p", "x", "--model", name)
        assert done.code == FAILED
        assert said in done.err
    kept = Places.under(home).config / "settings.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text('{"model": "own.py:Loud"}')
    assert "LOUD" not in splice("host", "run", "-p", "x").out, "a setting names no file"


def test_rules_are_listed_and_revoked(splice: Splice, ready: Path) -> None:
    assert "there are no lasting rules" in splice("host", "permissions", "list").err
    fingerprint = splice("host", "mcp", "get", "shop", "--json").json["fingerprint"]
    permissions = Permissions(
        Board(), Places.under(ready).config / "permissions.json", identity=lambda _: str(fingerprint)
    )
    permissions.grant("allow", "shop/add")
    permissions.grant("deny", "*/delete*")
    permissions.grant("allow", "reads shop")
    rows = [line.split("\t") for line in splice("host", "permissions", "list", "--no-header").out.splitlines()]
    assert [(row[0], row[1], row[5]) for row in rows] == [
        ("deny", "*/delete*", ""),
        ("allow", "reads shop", ""),
        ("allow", "shop/add", ""),
    ]
    assert splice("host", "permissions", "revoke", "shop/add", rows[0][4]).out == (
        "revoked: allow shop/add\nrevoked: deny */delete*\n"
    )
    done = splice("host", "permissions", "revoke", "shop/ad")
    assert (done.code, "there is no rule 'shop/ad'; there are reads shop" in done.err) == (USAGE, True)
    assert splice("host", "mcp", "remove", "shop").code == OK
    [rule] = splice("host", "permissions", "list", "--json").json["rules"]
    assert "configured otherwise" in rule["void"]


def test_the_log_tells_why_in_words_and_everything_as_json(splice: Splice, ready: Path) -> None:
    assert splice("host", "run", "-p", "add a=2 b=3", "--allow", "shop/add").code == OK
    line = next(each for each in splice("host", "log", "--kind", "call").out.splitlines() if "call" in each)
    assert "add was called in " in line
    assert "Allowed by the policy: a rule allows shop/add." in line
    assert "sha256" not in line
    [record] = splice("host", "log", "--kind", "call", "--json").json["records"]
    assert "arguments_sha256" in record["facts"]


def test_a_run_is_recorded_and_played_again_without_its_model(splice: Splice, ready: Path) -> None:
    words = ["host", "run", "-p", "add a=2 b=3", "--allow", "shop/add"]
    done = splice(*words, "--record", "tape.jsonl")
    assert done.code == OK
    assert Path("tape.jsonl").stat().st_mode & 0o777 == 0o600
    again = splice(*words, "--model", "tape.jsonl")
    assert (again.code, again.out) == (OK, done.out)
    other = splice("host", "run", "-p", "add a=2 b=4", "--allow", "shop/add", "--model", "tape.jsonl")
    assert other.code == FAILED
    assert "has no answer to this request" in other.err
    Path("bad.jsonl").write_text("{")
    Path("link.jsonl").symlink_to("tape.jsonl")
    records = (["--record", each] for each in ("no/such/tape.jsonl", "link.jsonl", "."))
    for wrong in (["--model", "bad.jsonl"], ["--model", "none.jsonl"], *records):
        done = splice(*words, *wrong)
        assert (done.code, "The cassette cannot be used" in done.err) == (USAGE, True)
