"""A mail server that keeps what it gets: one file for each mail in a folder, and nothing leaves this machine.

    python -m examples.travel.sink FOLDER [PORT]

It needs `aiosmtpd`. `client.py` runs it beside itself, on a free port.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from aiosmtpd.smtp import SMTP, Envelope, Session

PORT = 8025
"""Where the office server looks for a mail server that nobody named."""

MAX_BYTES = 1_000_000
"""Of one mail."""


class Keeper:
    """Keeps mails, numbered as they come."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._number = len(kept(folder))

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        """Keep a mail, with its recipients on top."""
        del server, session
        self._number += 1
        head = "".join(f"X-Envelope-To: {each}\r\n" for each in envelope.rcpt_tos).encode()
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        self._folder.joinpath(f"{self._number:03}.eml").write_bytes(head + content)
        return f"250 OK, kept as number {self._number}"


@asynccontextmanager
async def mail_sink(folder: Path, port: int = 0) -> AsyncIterator[int]:
    """Keep mail for the length of the block, on a port of this machine; yields which one."""
    async with serving(Keeper(folder), port) as listening:
        yield listening


@asynccontextmanager
async def serving(handler: object, port: int = 0) -> AsyncIterator[int]:
    """Serve a mail server whose handler is of the form that aiosmtpd wants."""
    loop, made = asyncio.get_running_loop(), list[SMTP]()

    def serve() -> SMTP:
        made.append(SMTP(handler, data_size_limit=MAX_BYTES, hostname="localhost", loop=loop))
        return made[-1]

    listening = await loop.create_server(serve, "127.0.0.1", port)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for each in made:
            if each.transport is not None:
                each.transport.close()
        await asyncio.sleep(0)  # lets the connections hear of it
        await listening.wait_closed()


def kept(folder: Path) -> list[EmailMessage]:
    """Read the mails that lie in a folder, the oldest first."""
    files = sorted(folder.glob("*.eml"))
    return [message_from_bytes(file.read_bytes(), policy=default) for file in files]


async def main(folder: Path, port: int) -> None:
    """Take mail until Ctrl-C."""
    async with mail_sink(folder, port) as listening:
        print(f"Mail to 127.0.0.1:{listening} lies down in {folder}")
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else PORT))
