"""A chat is begun anew from a place in another one: what goes along.

What the model is told does not say which turn it belongs to; the items on the board do. So the turns are counted: each
begins with as many messages as the user is shown to have said in it, and ends before those of the next: a prompt may
begin with words of the model's.
"""

from collections.abc import Iterable, Sequence

from splice.host.failing import HostError
from splice.host.items import Call, Message
from splice.types import SamplingMessage, ToolResultContent


def messages(told: Sequence[SamplingMessage], items: Iterable[Message | Call], turn: int, again: bool) -> int:
    """Count the messages up to the end of a turn, or with `again` to where the model begins to speak in it.

    Raises `HostError` when there is no such turn.
    """
    end, turns = 0, _said(items)
    for number, said in turns.items():
        answered = end + len(said)
        following = next((each for at, each in turns.items() if at > number), list[str]())
        before = next((at for at, role in enumerate(following) if role == "user"), 0)
        plain = next((at for at in range(answered, len(told)) if not _goes_on(told[at])), None)
        end = len(told) if plain is None else max(answered, plain - before)
        if number == turn and answered <= len(told):
            return answered if again else end
    raise HostError("There is no such turn in this chat")


def shown(items: Iterable[Message | Call], turn: int, again: bool) -> list[Message | Call]:
    """List the items up to the end of a turn, or with `again` to where the model begins to speak in it."""
    return [each for each in items if each.turn < turn or (each.turn == turn and (not again or _is_said(each)))]


def _said(items: Iterable[Message | Call]) -> dict[int, list[str]]:
    """List for each turn whose words it began with: the user's, and before and between them also the model's."""
    roles: dict[int, list[str]] = {}
    said = (each for each in items if isinstance(each, Message) and _is_said(each))
    for each in sorted(said, key=lambda message: (message.turn, int(message.id.rpartition(":")[2]))):
        roles.setdefault(each.turn, []).append(each.role)
    return roles


def _is_said(item: Message | Call) -> bool:
    """Tell whether the user said it; a prompt may have words of the model in it."""
    return isinstance(item, Message) and (item.role == "user" or bool(item.role == "model" and item.prompt))


def _goes_on(message: SamplingMessage) -> bool:
    """Tell whether a message goes on with a turn: the model's own, or results of its calls."""
    return message.role == "assistant" or any(isinstance(each, ToolResultContent) for each in message.blocks)
