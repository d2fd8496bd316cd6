"""The user's rules: kept, listed, revoked, and void when what they allowed is something else now."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from splice.host.asking.permissions import Effect, Permissions, server_of, tool_of
from splice.host.asking.policy import Policy, Proposed, Taint
from splice.host.board import Board
from splice.host.items import Notice, Rule, Tool

BOOK, SEARCH = tool_of("travel", "book"), tool_of("travel", "search")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "permissions.json"


def _effect(permissions: Permissions, name: str = "book", chat: str = "a") -> str:
    tool = Tool(id=f"tool:travel/{name}", server="travel", name=name)
    return Policy(permissions).decide(Proposed("travel", tool, {}, Taint(), chat=chat)).effect


def test_always_is_kept_and_dated_and_a_chat_is_not(path: Path) -> None:
    board = Board()
    permissions = Permissions(board, path, clock=lambda: 100.0)
    kept = permissions.grant("allow", BOOK)
    permissions.grant("allow", SEARCH, chat="a")
    assert (kept.scope, kept.made, kept.uses) == ("always", 100.0, 0)
    assert len(board.all(Rule)) == 2
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)

    later = Permissions(Board(), path)
    assert [each.what for each in later.all()] == [BOOK]
    assert (_effect(later), _effect(later, "search")) == ("allow", "ask")
    assert (_effect(permissions, "search"), _effect(permissions, "search", "b")) == ("allow", "ask")
    permissions.end_chat("a")
    assert _effect(permissions, "search") == "ask"


def test_uses_are_counted_and_written(path: Path) -> None:
    permissions = Permissions(Board(), path, clock=lambda: 100.0)
    rule = permissions.grant("allow", BOOK)
    permissions.used(rule.id)
    permissions.used(rule.id)
    assert [(each.uses, each.used) for each in permissions.all()] == [(2, 100.0)]
    permissions.flush()
    permissions.flush()
    assert [(each.uses, each.used) for each in Permissions(Board(), path).all()] == [(2, 100.0)]


def test_always_can_be_undone_and_that_too(path: Path) -> None:
    board = Board()
    permissions = Permissions(board, path)
    rule = permissions.grant("allow", BOOK)
    permissions.used(rule.id)
    permissions.revoke(rule.id)
    assert _effect(permissions) == "ask"
    assert board.all(Rule) == []
    assert Permissions(Board(), path).all() == []
    assert permissions.restore(rule.id).uses == 1
    assert _effect(permissions) == "allow"
    for unknown in (permissions.revoke, permissions.restore):
        with pytest.raises(KeyError):
            unknown("rule:none")


@pytest.mark.parametrize("what", [BOOK, server_of("travel")])
@pytest.mark.parametrize("chat", [None, "a"])
def test_what_was_allowed_is_void_when_the_tool_changed(path: Path, what: str, chat: str | None) -> None:
    permissions = Permissions(Board(), path, clock=lambda: 100.0)
    permissions.grant("allow", what, chat=chat)
    permissions.void("travel", "book")
    assert _effect(permissions) == "ask"
    assert _effect(permissions, "search") == ("allow" if what != BOOK else "ask")
    assert [each.void for each in permissions.all()] == ["the definition changed" if what == BOOK else ""]
    assert _effect(Permissions(Board(), path)) == "ask"
    permissions.grant("allow", BOOK)
    assert _effect(permissions) == "allow"
    assert _effect(Permissions(Board(), path)) == "allow"


def test_a_denial_is_never_void(path: Path) -> None:
    permissions = Permissions(Board(), path)
    permissions.grant("deny", BOOK)
    permissions.void("travel", "book")
    assert _effect(permissions) == "deny"


def test_another_server_of_the_same_name_is_not_allowed(path: Path) -> None:
    Permissions(Board(), path, identity=lambda _: "uvx travel").grant("allow", BOOK)
    other = Permissions(Board(), path, identity=lambda _: "npx evil")
    assert _effect(other) == "ask"
    assert [each.void for each in other.all()] == ["the server was configured otherwise when this was allowed"]
    other.grant("deny", BOOK)
    assert _effect(Permissions(Board(), path)) == "deny"


def test_two_processes_see_and_keep_the_rules_of_each_other(path: Path) -> None:
    board = Board()
    one, two = Permissions(board, path), Permissions(Board(), path)
    first = one.grant("allow", BOOK)
    two.grant("deny", SEARCH)
    assert _effect(one, "search") == "deny"
    one.grant("ask", server_of("travel"))
    assert len(two.all()) == len(board.all(Rule)) == 3
    two.revoke(first.id)
    assert len(one.all()) == len(board.all(Rule)) == 2


def test_nothing_is_lost_when_all_write_at_once(path: Path) -> None:
    def grant(number: int) -> None:
        permissions = Permissions(Board(), path)
        for name in "abc":
            permissions.grant("allow", tool_of(f"s{number}", name))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(grant, range(4)))
    assert len(Permissions(Board(), path).all()) == 12


def test_a_file_that_cannot_be_read_is_said_and_not_replaced(path: Path) -> None:
    path.mkdir(parents=True)
    board = Board()
    permissions = Permissions(board, path)
    [notice] = board.all(Notice)
    assert "cannot be read (Is a directory)" in notice.text
    with pytest.raises(IsADirectoryError):
        permissions.grant("allow", BOOK)
    assert _effect(permissions) == "ask"


@pytest.mark.parametrize("text", ["{", "[]", '{"rules": {}}', '{"version": 9}', "\xff", "[" * 5000])
def test_a_damaged_file_is_set_aside_and_said(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    board = Board()
    permissions = Permissions(board, path)
    [notice] = board.all(Notice)
    assert "was damaged and is now" in notice.text
    assert path.with_name("permissions.json.damaged").exists()
    assert _effect(permissions) == "ask"
    permissions.grant("allow", BOOK)
    assert _effect(Permissions(Board(), path)) == "allow"


def test_a_rule_that_cannot_be_read_does_not_hide_the_others_and_is_not_lost(path: Path) -> None:
    path.parent.mkdir()
    strange = {"effect": "later", "what": BOOK, "made": 1}
    path.write_text(json.dumps({"rules": [strange, {"effect": "deny", "what": SEARCH, "made": 1}]}))
    permissions = Permissions(Board(), path)
    assert _effect(permissions, "search") == "deny"
    permissions.grant("allow", BOOK)
    assert strange in json.loads(path.read_text())["rules"]


@pytest.mark.parametrize(
    ("effect", "what"),
    [
        ("allow", "*/book"), ("allow", "tra*/book"), ("ask", "*/*"), ("allow", "travel/b*"), ("deny", "travel"),
        ("allow", "sampling *"), ("deny", "sampling travel/x"), ("deny", "/x"), ("deny", "travel/"), ("allow", ""),
        ("deny", "*"),
    ],
)  # fmt: skip
def test_patterns_are_for_denials_only(effect: Effect, what: str) -> None:
    with pytest.raises(ValueError, match="rule"):
        Permissions(Board()).grant(effect, what, chat="")


def test_names_of_servers_stay_apart() -> None:
    assert tool_of("a/b", "c") != tool_of("a", "b/c")
    assert server_of("a") != tool_of("a", "*")
