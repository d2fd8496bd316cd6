"""Commands by name: what a request says is checked before the host is asked."""

from typing import Any

import msgspec
import pytest

from splice.host.asked import Decision, Filled
from splice.host.commands import COMMANDS, carry_out
from splice.host.failing import HostError
from support.stage import Stage


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
    assert len(str(error.value)) < 500
    assert "\n" not in str(error.value)


async def test_what_the_host_refuses_is_said() -> None:
    with pytest.raises(HostError, match=r"is not configured$"):
        await carry_out(Refusing(), "start_server", {"name": "travel"}, by="web")  # type: ignore[arg-type]  # likewise
