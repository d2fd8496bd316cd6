"""Programs on this computer that serve models: found when the user asks for it, on the ports that they use.

Nothing is sent but ``GET /v1/models``, without a key. Whoever listens on such a port may be anything, so what it
answers is bounded and checked, and a model that was found is used only when the user chooses it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import msgspec
from msgspec import Struct

MAX_BYTES = 512 * 1024
MAX_MODELS = 200
MAX_NAME = 200
MAX_WINDOW = 100_000_000
WINDOW = 32_000
"""The window of a model whose program does not say it; most have less than those of providers."""
SECONDS = 0.3
"""How long all of them have to answer."""

PORTS = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
"""Ports, and the programs that usually listen there."""


class Found(Struct, frozen=True):
    """An endpoint that answered."""

    port: int
    program: str
    models: dict[str, int]
    """Its models by name, each with its window."""

    @property
    def base_url(self) -> str:
        """Where its chat completions are."""
        return f"http://127.0.0.1:{self.port}/v1"


class _Model(Struct):
    id: str
    max_model_len: Any = None
    """The window, as vLLM tells it."""

    @property
    def window(self) -> int:
        told = self.max_model_len
        return told if isinstance(told, int) and 0 < told <= MAX_WINDOW else WINDOW


class _Models(Struct):
    data: list[_Model]


async def find(ports: Sequence[int] = tuple(PORTS), seconds: float = SECONDS) -> list[Found]:
    """Ask all ports at once. Those that do not answer in time, or not with models, are left out."""

    async def ask(port: int) -> Found | None:
        try:
            async with asyncio.timeout(seconds):
                models = _read(await _get(port))
        except (OSError, ValueError, RecursionError):  # TimeoutError is an OSError
            return None
        return Found(port, PORTS.get(port, f"port {port}"), models) if models else None

    return [found for found in await asyncio.gather(*map(ask, ports)) if found is not None]


async def _get(port: int) -> bytes:
    """Get the list of models by HTTP/1.0, so that the end of the connection is the end of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(f"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n".encode())
        answer = bytearray()
        while len(answer) <= MAX_BYTES and (more := await reader.read(64 * 1024)):
            answer += more
    return bytes(answer)


def _read(answer: bytes) -> dict[str, int]:
    """Read the names and windows of models. Raises `ValueError` for what is not a list of models."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status = head.split(b"\r\n", 1)[0].split()
    if len(answer) > MAX_BYTES or len(status) < 2 or not status[0].startswith(b"HTTP/1.") or status[1] != b"200":
        raise ValueError("not a list of models")
    models = msgspec.json.decode(body, type=_Models).data[:MAX_MODELS]
    return {each.id: each.window for each in models if 0 < len(each.id) <= MAX_NAME and each.id.isprintable()}
