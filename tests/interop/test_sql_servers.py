"""The official clients use the servers `sqlite` and `postgres`: they check results against the output schemas."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from interop.peer import HERE, NODE, PYTHON, run_peer
from interop.postgres import of

CLIENTS = {
    "python": [str(PYTHON), str(HERE / "peers" / "visitor.py")],
    "typescript": [str(NODE), str(HERE / "peers" / "visitor.mjs"), "2"],
}


def used(client: str, era: str, calls: list[tuple[str, dict[str, Any]]], *command: str) -> dict[str, Any]:
    return run_peer([*CLIENTS[client], era, json.dumps(calls), sys.executable, "-m", *command])


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", CLIENTS)
def test_official_clients_use_sqlite(tmp_path: Path, client: str, era: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_table", {"query": "CREATE TABLE t(a, b)"}),
        ("write_query", {"query": "INSERT INTO t VALUES (1, NULL), (2, x'00')"}),
        ("read_query", {"query": "SELECT * FROM t"}),
        ("describe_table", {"table_name": "t"}),
        ("list_tables", {}),
        ("append_insight", {"insight": "two"}),
        ("read_query", {"query": "DROP TABLE t"}),
    ]
    report = used(client, era, calls, "splice.servers.sqlite", "--db-path", str(tmp_path / "t.db"))
    assert len(report["tools"]) == 6
    assert [failed for failed, _ in report["answers"]] == [False] * 6 + [True]
    blob = {"base64": "AA==", "bytes": 1}
    assert json.loads(report["answers"][2][1]) == [{"a": 1, "b": None}, {"a": 2, "b": blob}]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", CLIENTS)
def test_official_clients_use_postgres(admin: str, client: str, era: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("query", {"sql": "SELECT name, 1.5 AS price, NULL AS nothing FROM customer ORDER BY id"}),
        ("list_schemas", {}),
        ("list_tables", {}),
        ("describe_table", {"table": "customer"}),
        ("explain", {"sql": "SELECT 1"}),
        ("query", {"sql": "DROP TABLE customer"}),
    ]
    report = used(client, era, calls, "splice.servers.postgres", "--dsn", of(admin, "reader"))
    assert [failed for failed, _ in report["answers"]] == [False] * 5 + [True]
    assert json.loads(report["answers"][0][1])[0] == {"name": "Ada", "price": "1.5", "nothing": None}
