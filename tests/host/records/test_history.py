"""Chats in SQLite: kept, shown again, renamed, deleted; files that are damaged, newer or of others."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from splice.host.items import Call, Message
from splice.host.records.history import History, HistoryFailed
from splice.types import SamplingMessage, TextContent, ToolResultContent, ToolUseContent

SAID = [
    SamplingMessage(role="user", content=TextContent(text="hi")),
    SamplingMessage(role="assistant", content=[ToolUseContent(id="1", name="t", input={"a": 1})]),
    SamplingMessage(role="user", content=[ToolResultContent(tool_use_id="1", content=[TextContent(text="ok")])]),
]


def test_a_chat_is_kept_with_its_messages_and_items(tmp_path: Path) -> None:
    path = tmp_path / "new" / "chats.db"
    history = History(path)
    assert history.problem == ""
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    assert oct(path.parent.stat().st_mode & 0o777) == "0o700"
    history.begin("a", "First")
    history.begin("b", "Second")
    history.add("a", SAID, turn=1)
    call = Call(id="call:2", chat="a", turn=1, server="s", tool="t", state="done")
    history.keep(
        "a",
        [
            call,
            Message(id="message:10", chat="a", role="model", text="x"),
            Message(id="message:1", chat="a", role="user"),
        ],
    )
    history.keep("a", [Message(id="message:10", chat="a", role="model", text="xy")])
    other = History(path)
    assert [chat.id for chat in other.chats()] == ["a", "b"]
    assert other.chats()[0].turn == 1
    assert other.messages("a") == SAID
    assert [item.id for item in other.items("a")] == ["message:1", "call:2", "message:10"]
    assert other.items("a")[1] == call
    other.rename("a", "Named")
    assert history.chats()[0].title == "Named"
    other.delete("a")
    history.add("a", SAID, turn=2)
    history.keep("a", [call])
    assert history.messages("a") == []
    assert history.items("a") == []
    history.close()
    other.close()


def test_a_damaged_file_is_set_aside_and_said(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    path.write_bytes(b"this is not a database, and long enough to be looked at" * 40)
    history = History(path)
    assert "damaged" in history.problem
    assert history.chats() == []
    history.close()
    assert len(list(tmp_path.glob("chats.db.damaged-*"))) == 1


def test_rows_that_nobody_can_read_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    history = History(path)
    history.begin("a", "A")
    history.add("a", SAID, turn=1)
    history.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE message SET body = '{\"role\": 3}' WHERE number = 1")
    history = History(path)
    assert history.messages("a") == SAID[1:]
    history.close()


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (["PRAGMA user_version = 99"], "newer Splice"),
        (["PRAGMA application_id = 7"], "another program"),
    ],
)
def test_a_file_that_is_not_ours_to_write_is_refused(tmp_path: Path, statements: list[str], says: str) -> None:
    path = tmp_path / "chats.db"
    History(path).close()
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    before = path.read_bytes()
    with pytest.raises(HistoryFailed, match=says):
        History(path)
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryFailed, match="cannot be kept"):
        History(tmp_path / "file" / "chats.db")
