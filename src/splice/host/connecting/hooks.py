"""What a connection asks of the host, and how it says that a server cannot be used."""

from typing import Any, Protocol

from splice.host.config.entries import Entry
from splice.host.connecting.manifest import Manifest
from splice.host.failing import HostError
from splice.types import CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root


class Unavailable(HostError):
    """A server cannot be used now. The message says which, why, and what to do."""


class Hooks(Protocol):
    """What the host does for its servers. `server` is always the local name."""

    async def trusts(self, entry: Entry) -> bool:
        """Tell whether the user trusts the command of an entry; asks when it has to."""
        ...

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Let the user answer a question."""
        ...

    async def sample(self, server: str, params: CreateMessageParams) -> CreateMessageResult | None:
        """Let a model go on with messages; None: the user does not want it."""
        ...

    async def roots(self, server: str) -> list[Root]:
        """List the folders that a server is told of."""
        ...

    async def prepare(self, server: str, manifest: Manifest) -> None:
        """Do what takes long before `heard` is told the same."""
        ...

    def heard(self, server: str, manifest: Manifest) -> None:
        """Take what a server offers: it came, or it changed."""

    def updated(self, server: str, uri: str) -> None:
        """Take note that a resource changed which is subscribed to."""

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Write into the activity log."""
