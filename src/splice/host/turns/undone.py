"""A call that did not happen, or failed: what becomes of it on the board, and what the model is told."""

from splice import ConnectionClosed, MCPError, RequestTimeout, RPCError
from splice.host.connecting.hooks import Unavailable
from splice.host.items import CallState
from splice.host.text import one_line

MAX_WORD = 300
"""How many characters of an error stand in the one sentence about a call."""

MAX_TOLD = 2_000
"""How many characters of an error the model gets."""

_ADVICE = "Tell the user, or go on without it."


class NotDone(Exception):
    """A call did not happen, or failed. It has a state, a word for the user, and a sentence for the model."""

    def __init__(self, state: CallState, word: str, told: str) -> None:
        super().__init__(told)
        self.state: CallState = state
        self.word, self.told = word, told


def of_error(error: MCPError | Unavailable) -> NotDone:
    """Say what an error of a connection means for a call."""
    word = one_line(str(error))[:MAX_WORD]
    match error:
        case Unavailable():
            return NotDone("failed", word, f"The server cannot be used now. {_ADVICE}")
        case RequestTimeout():
            return NotDone("timeout", word, f"The tool took too long and was cancelled. {_ADVICE}")
        case ConnectionClosed():
            told = f"The server crashed during the call. It may have been carried out, or not. {_ADVICE}"
            return NotDone("crashed", f"the server crashed: {word}"[:MAX_WORD], told)
        case RPCError():
            return NotDone("failed", word, f"The server refused the call: {error.message[:MAX_TOLD]}")
        case _:
            return NotDone("failed", word, f"The call failed. {_ADVICE}")
