"""Models of Anthropic: needs ``pip install 'splice[anthropic]'``.

The SDK sends and receives; what is sent and what it means is in `splice.host.models.messages`. The SDK's own retries
are off: the host decides whether to ask again, and says so. Each request has a connection of its own.
"""

from collections.abc import AsyncIterator

import anthropic
import httpx2

from splice.host.models.base import ModelEvent
from splice.host.models.bounds import TooLarge, bounded
from splice.host.models.failures import Server
from splice.host.models.messages import Answer, request
from splice.host.models.provided import Provided
from splice.types import CreateMessageParams

BASE_URL = "https://api.anthropic.com"
TIMEOUT_SECONDS = 120.0
"""How long to wait for the next part of an answer; while the model thinks, the provider sends pings."""
CONNECT_SECONDS = 15.0


class AnthropicModel(Provided):
    """A model behind the Messages API. Its key is in no message and no representation.

    Raises `ModelFailed` for an address that is not an HTTP URL, or one that would get a key without https.
    """

    base_url = BASE_URL
    timeout = TIMEOUT_SECONDS

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Ask the model, and yield its answer as it comes. Raises `ModelFailed`."""
        answer = Answer(params)
        try:
            async with self._client() as client:
                stream = await client.post(
                    "/v1/messages",
                    cast_to=object,
                    body=request(params, self.model),
                    stream=True,
                    stream_cls=anthropic.AsyncStream[object],
                )
                async with stream:
                    async for chunk in stream:
                        for event in answer.read(chunk):
                            yield event
                        if answer.is_over:
                            break
        except anthropic.AnthropicError as error:
            raise _failed(self.server, error) from None  # the error knows the request, and so the key
        except TooLarge:
            raise self.server.failed("wrong answer") from None
        except httpx2.HTTPError:  # the SDK passes on what goes wrong after the first part
            raise self.server.failed("connection") from None
        except (ValueError, RecursionError):
            raise self.server.failed("wrong answer") from None
        for event in answer.end():
            yield event

    def _client(self) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(
            api_key=self.key or "none",
            base_url=self.url,
            max_retries=0,
            timeout=anthropic.Timeout(self.timeout, connect=CONNECT_SECONDS),
            http_client=anthropic.DefaultAsyncHttpxClient(**bounded(self.connection)),
        )


def _failed(server: Server, error: anthropic.AnthropicError) -> Exception:
    if isinstance(error, anthropic.APIStatusError):
        is_streaming = error.status_code == 200  # an error in mid-stream has the status of the stream
        return server.refused(None if is_streaming else error.status_code, error.body, error.response.headers)
    if isinstance(error, anthropic.APITimeoutError):
        return server.failed("connection", "nothing came in time")
    if isinstance(error, anthropic.APIConnectionError):
        return server.failed("connection")
    return server.failed("wrong request")
