"""The meter on the board: what fills the model's window now."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from splice.host import items
from splice.host.board import Board
from splice.host.turns import meter
from splice.types import SamplingMessage, Tool


def show(board: Board, messages: Sequence[SamplingMessage], tools: Iterable[Tool], window: int, **of_turn: Any) -> None:
    """Put the meter on the board. `of_turn` are its fields that belong to a turn: calls, bounds, servers."""
    said, results = meter.of_messages(messages)
    attached = (each for message in board.all(items.Message) for each in message.attached)
    resources = min(said, sum(each.tokens for each in attached))
    shown = items.Meter(
        id="meter:now",
        window=window,
        conversation=said - resources,
        definitions=meter.of_tools(tools),
        resources=resources,
        results=results,
    )
    board.put(replace(shown, **of_turn))
