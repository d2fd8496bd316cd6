"""How a server may turn a request away over HTTP, for those who decide what to do next."""

from splice.errors import ConnectionClosed, TransportError
from splice.protocol.jsonrpc import Failure


class HTTPRefused(TransportError):
    """The server answered with an HTTP status and nothing that counts as a response."""

    def __init__(self, message: str, status: int, response: Failure | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.response = response
        """The JSON-RPC error that came with a 5xx: an answer to this request, but no evidence of anything else."""


class SessionLost(ConnectionClosed):
    """The server does not know our session any more; a new one may be opened. Legacy only."""
