"""The server `postgres`, as far as it needs no database: `tests/interop/test_postgres.py` has the rest."""

from typing import Any

import pytest

from splice.servers.postgres.__main__ import COMMAND
from splice.servers.postgres.rows import Shelf, answer
from splice.servers.postgres.server import make

PASSWORD = "s3cret-word"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "DATABASE_URL"),
        ({"dsn": f"nonsense {PASSWORD}"}, "not a connection string"),
        ({"dsn": f"postgresql://user:{PASSWORD}@127.0.0.1:1/x?odd={PASSWORD}"}, "not a connection string"),
        ({"dsn": f"postgresql://user:{PASSWORD}@127.0.0.1:1/{PASSWORD}"}, "cannot be used"),
        ({"dsn": "host=x", "max_rows": 0}, "--max-rows"),
        ({"dsn": "host=x", "timeout": 0}, "--timeout"),
        ({"dsn": "host=x", "write": True, "read_only": True}, "exclude"),
    ],
)
def test_a_wrong_setting_is_told_without_the_password(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        make(**settings)
    assert PASSWORD not in str(caught.value)


def test_the_command_tells_what_is_missing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "POSTGRES_URL", "SPLICE_POSTGRES_DSN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit):
        COMMAND.main([])
    assert "DATABASE_URL" in capsys.readouterr().err
    monkeypatch.setenv("POSTGRES_URL", f"postgresql://user:{PASSWORD}@127.0.0.1:1/x")
    with pytest.raises(SystemExit):
        COMMAND.main([])
    said = capsys.readouterr().err
    assert "cannot be used" in said
    assert PASSWORD not in said
    assert COMMAND.main(["--print-config"]) == 0
    assert PASSWORD not in capsys.readouterr().out


def test_a_shelf_takes_what_there_is_room_for() -> None:
    shelf = Shelf(3)
    assert [shelf.put(["a", "a"], [number, "x" * 30_000]) for number in range(4)] == [True, True, True, False]
    assert shelf.page.columns == ["a", "a:1"]
    assert (shelf.page.is_cut, shelf.page.cut_values) == (True, 3)
    wide = Shelf(1_000)
    assert not all(wide.put(["a"], ["x" * 15_000]) for _ in range(20))
    assert "OFFSET" in str(answer(wide.page))
