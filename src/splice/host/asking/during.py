"""The call during which a server asks something. The protocol does not say it before 2026-07-28."""

from collections.abc import Sequence

from splice.host.board import Board
from splice.host.items import Call, Chat


def call_of(board: Board, server: str, calls: Sequence[str] = ()) -> Call | None:
    """Find the only call of a server that is under way, or that is among `calls`, their ids; else nobody can tell."""
    known = [each for call in calls if (each := board.get(call, Call)) is not None] if calls else running(board, server)
    return known[0] if len(known) == 1 else None


def running(board: Board, server: str) -> list[Call]:
    """List the calls of a server that are under way."""
    return [each for each in board.all(Call) if each.server == server and each.state == "running"]


def chat_of(board: Board, call: Call | None) -> str:
    """Tell the chat of a call, else the open one; empty if there is none."""
    if call is not None:
        return call.chat
    return next((chat.id for chat in board.all(Chat) if chat.is_open), "")
