"""The activity log: lines that are only appended, without secrets, read from the end, exported."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from splice.host.board import Board
from splice.host.items import Log, Notice
from splice.host.records.activity import Activity
from splice.host.records.exporting import html, jsonl


def test_records_are_lines_of_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    board = Board()
    log = Activity(tmp_path / "activity", board)
    assert log.record("server", server="travel", state="ready") == 1
    assert (
        log.record("call", server="travel", call="call:3", turn=2, decision="allow", rule="travel/*", seconds=0.5) == 2
    )
    assert oct(log.path.stat().st_mode & 0o777) == "0o600"
    assert oct(log.path.parent.stat().st_mode & 0o777) == "0o700"
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2]
    assert lines[1]["facts"] == {"decision": "allow", "rule": "travel/*", "seconds": 0.5}
    assert board.get("log:now", Log) == Log(id="log:now", count=2, last=lines[1]["at"])
    other = Activity(tmp_path / "activity", board)
    assert other.path != log.path
    log.close()
    assert [record.number for record in log.read()] == [2, 1]


def test_secrets_go_by_their_names_and_by_their_values(tmp_path: Path) -> None:
    log = Activity(tmp_path, Board())
    log.redaction.hide(["s3cr3t-of-env", "abc"])
    arguments = {
        "apiKey": "k1",
        "nested": [{"user_password": "p", "PIN": 1234, "note": "uses s3cr3t-of-env twice: s3cr3t-of-env"}],
        "token_count": 3,
        "max_tokens": 9,
        "header": "Authorization: Bearer abcdefgh12345",
        "abc": "abc",
        "long": "x" * 2000,
    }
    log.record("call", arguments=arguments, result=[{"type": "text", "text": "abc s3cr3t-of-env"}])
    facts = log.read()[0].facts
    kept = facts["arguments"]
    assert kept["apiKey"] == "[hidden]"
    assert kept["nested"][0] == {
        "user_password": "[hidden]",
        "PIN": "[hidden]",
        "note": "uses [hidden] twice: [hidden]",
    }
    assert kept["max_tokens"] == 9
    assert kept["header"] == "Authorization: Bearer [hidden]"
    assert kept["abc"] == "abc"
    assert kept["long"].endswith("(2,000 characters)")
    assert facts["arguments_bytes"] == len(msgspec.json.encode(arguments))
    assert len(facts["arguments_sha256"]) == 64
    log.redaction.keeps_bodies = True
    log.record("call", arguments=arguments)
    assert log.read()[0].facts["arguments"]["long"] == "x" * 2000
    assert b"s3cr3t-of-env" not in log.path.read_bytes()
    deep: object = 0
    for _ in range(200):
        deep = [deep]
    log.record("call", result=deep)
    log.record("call", arguments={"blob": ["y" * 1000] * 1000}, why="long")
    assert "arguments" not in log.read()[0].facts
    assert log.read()[0].facts["why"] == "long"


def test_records_are_read_from_the_end_by_server_kind_and_words(tmp_path: Path) -> None:
    log = Activity(tmp_path, Board())
    for number in range(1, 401):
        log.record("call" if number % 2 else "list", server=f"s{number % 4}", what=f"Thing {number}")
    assert [record.number for record in log.read(count=3)] == [400, 399, 398]
    assert [record.number for record in log.read(before=398, count=2)] == [397, 396]
    assert [record.number for record in log.read(server="s1", count=2)] == [397, 393]
    assert [record.number for record in log.read(kind="list", count=2)] == [400, 398]
    assert [record.number for record in log.read(words="thing 39", count=50)] == [*range(399, 389, -1), 39]
    assert log.read(before=1) == []
    assert log.read(server="nobody") == []


def test_an_export_escapes_everything(tmp_path: Path) -> None:
    log = Activity(tmp_path, Board())
    log.record("call", server="<b>\x1b[31m", arguments={"x": "<script>alert(1)</script>\u202e"})
    page = html(log.all())
    assert "<script" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page
    assert jsonl(log.all()) == log.path.read_text()


def test_a_disk_that_refuses_is_said_once_and_the_host_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    board = Board()
    log = Activity(tmp_path / "file" / "below", board)
    assert log.record("call") == 0
    assert log.record("call") == 0
    notice = board.get("notice:log", Notice)
    assert notice is not None
    assert "activity log" in notice.text
    assert log.read() == []


def test_a_file_that_somebody_emptied_is_no_crash(tmp_path: Path) -> None:
    log = Activity(tmp_path, Board())
    log.record("call")
    os.truncate(log.path, 0)
    assert log.read() == []


@pytest.mark.parametrize("at", ["1e300", "1e18", "-1", '"now"'])
def test_a_record_of_a_time_that_no_clock_knows_is_left_out(tmp_path: Path, at: str) -> None:
    log = Activity(tmp_path, Board(), clock=lambda: 1e9)
    log.record("call")
    line = log.path.read_text()
    assert "1000000000.0" in line
    log.path.write_text(line.replace("1000000000.0", at.ljust(12)))
    assert log.read() == []


def test_old_sessions_are_forgotten_and_those_under_way_are_not(tmp_path: Path) -> None:
    now = 1_718_000_000.0
    logs = [Activity(tmp_path, Board(), clock=lambda: now) for _ in range(4)]
    ended, running, crashed, own = logs
    for log in logs:
        log.record("call", server="travel", result="x" * 9_000)
    ended.record("host", state="closed")
    (tmp_path / "notes.txt").write_text("kept")
    os.utime(running.path, (now - 60, now - 60))
    os.utime(crashed.path, (now - 90_000, now - 90_000))
    assert own.forget() == 2
    assert {each for each in tmp_path.iterdir() if each.suffix == ".jsonl"} == {running.path, own.path}
    assert own.read()
    for log in logs:
        log.close()
