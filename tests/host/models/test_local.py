"""Programs on this computer are found, whatever else listens there."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from splice.host.models import local

ASKED: list[bytes] = []
SIZED = {"id": "sized", "max_model_len": 9_000}
ODD = {"id": "odd", "max_model_len": "many"}


@asynccontextmanager
async def listener(answer: bytes | None) -> AsyncIterator[int]:
    """Answer one request and close; None: say nothing at all."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ASKED.append(await reader.readuntil(b"\r\n\r\n"))
        if answer is None:
            await reader.read()
        else:
            writer.write(answer)
        writer.close()
        with suppress(OSError):  # who asked may have left before the end
            await writer.wait_closed()
        done.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.wait_for(done.wait(), 5)


def models(*names: object, status: str = "200 OK") -> bytes:
    data = [name if isinstance(name, dict) else {"id": name} for name in names]
    body = json.dumps({"object": "list", "data": data})
    return f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n\r\n{body}".encode()


def test_models_are_found_and_the_rest_is_left_out() -> None:
    async def main() -> None:
        ASKED.clear()
        async with listener(models("small", SIZED, "a\x1bb", "x" * 201, "", ODD)) as good, listener(None) as silent:
            found = await local.find([good, silent, 9], seconds=0.2)
        assert [(each.port, each.models, each.base_url) for each in found] == [
            (good, {"small": 32_000, "sized": 9_000, "odd": 32_000}, f"http://127.0.0.1:{good}/v1")
        ]
        assert all(asked.startswith(b"GET /v1/models HTTP/1.0\r\n") for asked in ASKED)
        assert b"authorization" not in b"".join(ASKED).lower()

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        models("small", status="404 Not Found"),
        models(7),
        models(),
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 100_000,
        b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (local.MAX_BYTES + 1),
    ],
)
def test_what_lists_no_models_is_none(answer: bytes) -> None:
    async def main() -> None:
        async with listener(answer) as port:
            assert await local.find([port], seconds=5) == []

    asyncio.run(main())
