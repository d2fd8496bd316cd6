"""Commands by name: what a request says is checked before the host is asked."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.hosting import hosting
from splice.host.asked import Decision, Filled
from splice.host.commands import COMMANDS, MAX_SENTENCE, carry_out
from splice.host.failing import HostError
from support.stage import Stage

NAMING = ("start_server", "stop_server", "restart_server", "log_in", "remove_server")


class Refusing(Stage):
    """A host that cannot start a server."""

    async def start_server(self, name: str) -> None:
        raise HostError(f"{name} \x1b[31mis not configured")


def test_every_command_stands_on_a_stage_too() -> None:
    assert all(callable(getattr(Stage, name)) for name in COMMANDS if name != "visit")


@pytest.mark.parametrize(
    ("name", "body", "told"),
    [
        ("say", b'{"text": "hi"}', {"text": "hi", "prompt": "", "tool": ""}),
        ("stop", b"", {}),
        (
            "answer",
            b'{"question": "question:1", "answer": {"type": "decision", "verdict": "deny", "reason": "no"}}',
            {"question": "question:1", "answer": Decision("deny", reason="no"), "by": "web"},
        ),
        (
            "answer",
            b'{"question": "question:1", "answer": {"type": "decision", "verdict": "once"}, "by": "terminal"}',
            {"question": "question:1", "answer": Decision("once"), "by": "web"},
        ),
        (
            "answer",
            b'{"question": "question:1", "answer": {"type": "filled", "action": "accept", "content": {"a": 1}}}',
            {"question": "question:1", "answer": Filled("accept", {"a": 1}), "by": "web"},
        ),
        ("switch_tool", b'{"id": "tool:a/b", "on": false}', {"id": "tool:a/b", "on": False}),
    ],
)
async def test_a_command_reaches_the_host(name: str, body: bytes, told: dict[str, Any]) -> None:
    stage = Stage()
    await carry_out(stage, name, msgspec.json.decode(body or b"{}"), by="web")  # type: ignore[arg-type]  # a stage has its commands
    assert stage.named(name) == [told]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("wait", b"{}"),
        ("__init__", b"{}"),
        ("board", b"{}"),
        ("stop", b'{"now": true}'),
        ("answer", b'{"question": "q", "answer": {"type": "decision", "verdict": "always"}}'),
        ("switch_tool", b'{"id": 1, "on": "no"}'),
    ],
)
async def test_what_does_not_fit_is_refused_with_a_sentence(name: str, body: bytes) -> None:
    stage = Stage()
    with pytest.raises(HostError) as error:
        await carry_out(stage, name, msgspec.json.decode(body or b"{}"), by="web")  # type: ignore[arg-type]  # a stage has its commands
    assert stage.told == []
    assert len(str(error.value)) < MAX_SENTENCE
    assert "\n" not in str(error.value)


async def test_what_the_host_refuses_is_said() -> None:
    with pytest.raises(HostError, match=r"is not configured$"):
        await carry_out(Refusing(), "start_server", {"name": "travel"}, by="web")  # type: ignore[arg-type]  # likewise


async def test_whatever_a_request_names_it_is_told_a_sentence_and_no_trace(tmp_path: Path) -> None:
    async with hosting(tmp_path, {}) as host:
        asked: list[tuple[str, dict[str, Any]]] = [(name, {"name": "x" * 5_000}) for name in NAMING]
        asked += [
            ("switch_server", {"name": "none", "on": True}),
            ("output", {"server": "none"}),
            ("read", {"server": "no\nne", "uri": "a:b"}),
        ]
        asked += [("add_root", {"path": path}) for path in ("a" * 5_000, "~nobody-of-this-name/", "\0")]
        asked += [
            ("read_servers", {"text": text}) for text in ("", "\ud800'", "x" * 2_000_000, '{"\u202e": 1, "a": {}}')
        ]
        asked += [
            ("grant", {"effect": "allow", "what": what}) for what in ("x" * 5_000 + "/*", "\ud800/a", "a\nb/\u202e")
        ]
        asked += [("set", {"name": "model", "value": "\ud800"}), ("accept_tool", {"id": "\n"})]
        for name, given in asked:
            with pytest.raises(HostError) as error:
                await carry_out(host, name, given, by="web")
            assert len(str(error.value)) <= MAX_SENTENCE
            assert str(error.value).isprintable()


async def test_what_changes_what_is_run_or_asked_stands_in_the_log(tmp_path: Path) -> None:
    async with hosting(tmp_path, {}) as host:
        await carry_out(host, "add_server", {"name": "s", "entry": {"command": "true"}}, by="web")
        await carry_out(host, "remove_server", {"name": "s"}, by="web")
        await carry_out(host, "set", {"name": "asks_after_outside", "value": False}, by="web")
        kinds = {each.kind: each for each in host.activity.read()}
    assert kinds["added"].facts["runs"] == "true"
    assert kinds["removed"].server == "s"
    assert kinds["setting"].facts == {"name": "asks_after_outside", "value": False}
