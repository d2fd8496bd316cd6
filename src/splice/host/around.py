"""What a server's sampling needs to know of the host: its models, the user's limits, and the chat if it is shared."""

from collections.abc import Callable, Sequence
from typing import Any

from splice.host.asking.sampling import Limits
from splice.host.config.entries import SamplingLimits
from splice.host.connecting.connections import Connections
from splice.host.models.base import Model
from splice.host.models.catalogue import Catalogue
from splice.host.turns.conversation import Conversation
from splice.host.turns.quoting import text_of

MAX_SHARED = 20_000
"""How many characters of the end of a chat a server's sampling gets when the user shares it."""


class Around:
    """The host as sampling sees it."""

    def __init__(
        self,
        catalogue: Catalogue,
        connections: Connections,
        chat: Callable[[], Conversation],
        record: Callable[..., None],
    ) -> None:
        self._catalogue, self._connections, self._chat, self._record = catalogue, connections, chat, record

    def models(self) -> Sequence[Model]:
        """List the models that were used since the host opened: others load first when they are chosen."""
        return self._catalogue.made

    def own_model(self) -> str:
        """Tell the id of the model of the user's own turns."""
        return self._catalogue.chosen

    def limits(self, server: str) -> Limits:
        """Tell what a server may do: what its configuration says, never more than the host's own limits."""
        given = self._connections[server].entry.options.sampling
        if not isinstance(given, SamplingLimits):
            return Limits()
        usual = Limits()
        cap = min(given.max_tokens or usual.cap, usual.cap)
        return Limits(cap, min(given.per_minute or usual.rate, usual.rate), given.models)

    def said_in(self, chat: str) -> str:
        """Write out the open chat, from its end backwards; another one is not shared."""
        conversation = self._chat()
        if chat != conversation.id:
            return ""
        said = (f"{each.role}: {text}" for each in conversation.messages if (text := text_of(each.blocks)))
        return "\n\n".join(said)[-MAX_SHARED:]

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Write into the activity log."""
        self._record(kind, server, **facts)
