"""What all models behind a key and an address have in common."""

from typing import Any, ClassVar

from splice.host.models.failures import ON_THIS_COMPUTER, Server

WINDOW = 128_000
"""The window of a model that nobody told about, in tokens."""

_NEEDED = {
    "host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding",
    "user-agent", "anthropic-version",
}  # fmt: skip
"""Headers that an endpoint needs, besides the key."""


class Provided:
    """A model of a provider: `model` is the provider's name for it."""

    is_ai = True
    base_url: ClassVar[str]
    """The provider's own address, unless another is given."""

    def __init__(
        self, model: str, key: str = "", *, id: str = "", base_url: str = "", label: str = "", window: int = WINDOW
    ) -> None:
        self.model = model
        self.key = key
        self.url = base_url or self.base_url
        self.server = Server(self.url, key)
        self.where = self.server.where
        self.provider = id.partition("/")[0]
        self.id = id or model
        self.label = label or model
        self.window = window

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"

    @property
    def connection(self) -> dict[str, Any]:
        """Options for the SDK's HTTP client: redirects could take the key elsewhere, so none is followed.

        A proxy is never between this computer and itself.
        """
        hooks = {} if self.url == self.base_url else {"request": [self._strip]}
        return {"follow_redirects": False, "trust_env": self.where != ON_THIS_COMPUTER, "event_hooks": hooks}

    async def _strip(self, request: Any) -> None:
        """Leave out what SDKs add from the environment, when the endpoint is not the provider's own.

        Organization and project, custom headers and another key are between the user and the provider.
        """
        for name in set(request.headers) - _NEEDED:
            del request.headers[name]
        if self.key:
            request.headers["authorization"] = f"Bearer {self.key}"
