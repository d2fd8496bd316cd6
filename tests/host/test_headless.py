"""A run that nobody watches: rules decide, prepared answers answer, nothing hangs, and what was refused is told."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from host.hosting import call, hosting, run
from splice import Context, Server
from splice.host.headless import DONE, FAILED, UNANSWERED
from splice.host.headless import run as run_headless
from splice.host.host import HostError


def desk() -> Server:
    server = Server("desk")

    @server.tool
    def look() -> str:
        """Look at the desk."""
        return "a pen"

    @server.tool
    async def sign(ctx: Context) -> str:
        """Let the user sign."""
        answer = await ctx.elicit("Sign here", {"type": "object", "properties": {"name": {"type": "string"}}})
        return f"signed: {answer.action} {answer.content}"

    return server


def lines_of(tmp_path: Path, *turns: dict[str, Any], **options: Any) -> tuple[int, list[dict[str, Any]]]:
    told: list[str] = []
    rules = {"allow": options.pop("allow", []), "deny": options.pop("deny", [])}

    async def main() -> int:
        servers = {"desk": desk(), **options.pop("servers", {})}
        async with hosting(tmp_path, servers, *turns, policy="headless", **options) as host:
            return await run_headless(host, "go", output=told.append, **rules)

    return run(main()), [json.loads(line) for line in told]


def test_what_a_rule_allows_is_done_and_told_as_lines(tmp_path: Path) -> None:
    looking = {"say": "I look.", "call": [call("desk__look")]}
    status, lines = lines_of(tmp_path, looking, {"call": [call("desk__look")]}, {"say": "A pen."}, allow=["desk/*"])
    assert status == DONE
    assert [line["state"] for line in lines if line["kind"] == "call"] == ["done", "done"]
    assert lines[-1] == {"kind": "end", "status": 0, "why": "", "text": "A pen.", "unusable": {}, "unanswered": []}


def test_a_server_that_is_allowed_by_name_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"stranger": {"command": "x"}}}))
    status, lines = lines_of(tmp_path, {"say": "Nothing."}, allow=["stranger/*"])
    assert status == UNANSWERED
    assert "stranger: nothing was prepared for its trust" in lines[-1]["why"]
    status, lines = lines_of(tmp_path, {"say": "Nothing."}, allow=["desk/*"])
    assert status == DONE
    assert lines[-1]["unanswered"] == ["stranger: nothing was prepared for its trust"]


def test_a_tool_that_is_allowed_by_name_and_changed_since_is_no_success(tmp_path: Path) -> None:
    def other() -> Server:
        server = Server("desk")

        @server.tool
        def look() -> str:
            """Look at the desk, and at what is in it."""
            return "a pen"

        return server

    assert lines_of(tmp_path, {"say": "Nothing."}, allow=["desk/look"])[0] == DONE
    status, lines = lines_of(tmp_path, {"say": "Nothing."}, allow=["desk/look"], servers={"desk": other()})
    assert status == UNANSWERED
    assert "desk/look changed since you saw it: splice host mcp accept desk/look" in lines[-1]["why"]
    assert lines_of(tmp_path, {"say": "Nothing."}, allow=["desk/*"], servers={"desk": other()})[0] == DONE


def test_what_nobody_allowed_is_denied_with_a_reason_and_a_status_of_its_own(tmp_path: Path) -> None:
    turns = ({"call": [call("desk__look"), call("desk__sign")]}, {"say": "I could not.", "after": "denied"})
    status, lines = lines_of(tmp_path, *turns, allow=["desk/*"], deny=["desk/look"])
    assert status == UNANSWERED
    assert {line["state"] for line in lines if line["kind"] == "call"} == {"denied", "done"}
    assert "rule denies" in lines[-1]["why"]
    assert "nothing was prepared" in lines[-1]["why"]
    assert lines[-1]["text"] == "I could not."


def test_prepared_answers_answer_and_servers_that_fail_are_reported(tmp_path: Path) -> None:
    broken = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}
    turns = ({"call": [call("desk__sign")]}, {"say": "Signed.", "after": "Anna"})
    answers = {"form": {"name": "Anna"}}
    status, lines = lines_of(tmp_path, *turns, allow=["desk/sign"], answers=answers, servers={"broken": broken})
    assert (status, lines[-1]["text"]) == (DONE, "Signed.")
    assert list(lines[-1]["unusable"]) == ["broken"]


def test_a_model_that_fails_and_rules_that_cannot_be(tmp_path: Path) -> None:
    status, lines = lines_of(tmp_path, {"fail": {"kind": "login", "message": "The key is wrong."}})
    assert status == FAILED
    assert lines[-1]["why"].startswith("The key is wrong.")
    with pytest.raises(HostError, match="cannot be used"):
        lines_of(tmp_path, {"say": "x"}, allow=["*/look"])
