"""Models of OpenAI, and of everything that speaks its chat completions format: needs ``pip install 'splice[openai]'``.

The SDK sends and receives; what is sent and what it means is in `splice.host.models.chat`. The SDK's own retries are
off: the host decides whether to ask again, and says so. Each request has a connection of its own, which ends with it.
"""

from collections.abc import AsyncIterator

import httpx2
import openai

from splice.host.models.base import ModelEvent
from splice.host.models.bounds import TooLarge, bounded
from splice.host.models.chat import Answer, request
from splice.host.models.failures import Server
from splice.host.models.provided import Provided
from splice.types import CreateMessageParams

BASE_URL = "https://api.openai.com/v1"
TIMEOUT_SECONDS = 300.0
"""How long to wait for the next part of an answer: some models think for minutes before they say a word."""
CONNECT_SECONDS = 15.0


class OpenAIModel(Provided):
    """A model behind a chat completions endpoint. Its key is in no message and no representation.

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
                    "/chat/completions",
                    cast_to=object,
                    body=request(params, self.model, is_openai=self.where == "api.openai.com"),
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                async with stream:
                    async for chunk in stream:
                        for event in answer.read(chunk):
                            yield event
        except openai.OpenAIError as error:
            raise _failed(self.server, error) from None  # the error knows the request, and so the key
        except TooLarge:
            raise self.server.failed("wrong answer") from None
        except httpx2.HTTPError:  # the SDK passes on what goes wrong after the first part
            raise self.server.failed("connection") from None
        except (ValueError, RecursionError):
            raise self.server.failed("wrong answer") from None
        for event in answer.end():
            yield event

    def _client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            api_key=self.key or "none",  # programs on this computer want no key, but the SDK does
            base_url=self.url,
            max_retries=0,
            timeout=openai.Timeout(self.timeout, connect=CONNECT_SECONDS),
            http_client=openai.DefaultAsyncHttpxClient(**bounded(self.connection)),
        )


def _failed(server: Server, error: openai.OpenAIError) -> Exception:
    if isinstance(error, openai.APIStatusError):
        return server.refused(error.status_code, error.body, error.response.headers)
    if isinstance(error, openai.APITimeoutError):
        return server.failed("connection", "nothing came in time")
    if isinstance(error, openai.APIConnectionError):
        return server.failed("connection")
    if isinstance(error, openai.APIError):
        return server.refused(None, error.body, {})
    return server.failed("wrong request")
