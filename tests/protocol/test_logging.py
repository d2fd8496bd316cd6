"""Log messages, and their levels."""

from typing import Any

import msgspec
import pytest
from msgspec import Struct

from protocol.wire import stable
from splice.protocol.logging import LOGGING_LEVELS, LogParams, SetLevelParams


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (LogParams, {"level": "info", "data": None}),
        (LogParams, {"level": "emergency", "data": {"a": [1]}, "logger": "l", "_meta": {"a": 1}}),
        (SetLevelParams, {"level": "debug"}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


@pytest.mark.parametrize(
    ("kind", "value", "path"), [(LogParams, {"level": "info"}, "data"), (SetLevelParams, {"level": "loud"}, "loud")]
)
def test_params_that_do_not_fit_are_told(kind: type[Struct], value: Any, path: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=path):
        msgspec.json.decode(msgspec.json.encode(value), type=kind)


def test_logging_levels_go_from_mild_to_severe() -> None:
    assert LOGGING_LEVELS[0] == "debug"
    assert LOGGING_LEVELS[-1] == "emergency"
    assert LOGGING_LEVELS.index("warning") < LOGGING_LEVELS.index("error") < LOGGING_LEVELS.index("alert")
