"""A server running as a child process. Recent stderr is kept so that errors can quote it.

What arrives on stdout goes from the pipe straight to the channel: no reader task, no queue. stderr is always read, so
that a talkative child never blocks.

Shutdown follows the specification: close stdin, wait, SIGTERM, wait, SIGKILL. The signals go to the process group.
A child that has never said a word has begun nothing: it gets SIGTERM soon, so that giving up on it is quick.
A child that leaves by itself after its stdin was closed is believed to have cleaned up: what it started and left
running is then its own business, and gets no signal.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

import asyncio
import logging
import warnings
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from splice.errors import ConnectFailed, ConnectionClosed
from splice.protocol import jsonrpc, lenient, versions
from splice.rules import eras
from splice.transports import base, channel, processes, tasks
from splice.transports.lines import LineChannel

GRACE_SECONDS = 2.0
"""How long a child may take to leave, first after its stdin was closed, then after SIGTERM."""

SILENT_GRACE_SECONDS = 0.2
"""How long one that has never said a word may take after its stdin was closed."""

LAST_WORDS_SECONDS = 0.5
"""After stdout closes or the process exits, how long to wait for the rest before pending calls fail: the error tells
the exit status and the end of stderr."""

STDERR_BYTES = 64 * 1024
"""How much of stderr is kept."""

_SHOWN_STDERR_LINES = 20
_SHOWN_JUNK_LINES = 5
_JUNK = """%s wrote to stdout what is not a message, skipped: %s (%s). \
A server's stdout is for messages only, one on a line; its logs belong on stderr. Only the first %d are shown"""

log = logging.getLogger("splice.client")


class StdioLink(LineChannel, asyncio.SubprocessProtocol, base.Link):
    """The way to a server in a child process. The event loop calls it with what it sees of the child.

    `name` is what errors and logs call it. `on_stderr` is given what it writes to stderr, as it comes. `max_message` is
    the size of the largest message that it may write, in bytes.
    """

    _transport: asyncio.SubprocessTransport
    _input: asyncio.WriteTransport
    _watching: asyncio.Task[None]

    def __init__(
        self, name: str, receiver: base.Receiver, on_stderr: Callable[[bytes], None] | None, max_message: int
    ) -> None:
        sender = base.Sender(kind="stdio")
        super().__init__(self._write_out, lambda asked: receiver.answer(asked.request), receiver.hear, sender)
        self.name = name
        self.errors = bytearray()
        """The last of what the child wrote to stderr."""
        self._on_stderr = on_stderr
        self.remark = lenient.Remarks(log)
        self.lines.max_bytes = max_message
        self.lines.remedy = "; Client(..., max_message=) sets it"
        self._closing: asyncio.Task[None] | None = None
        self._broken = asyncio.Event()
        """The child closed its stdin or stdout, or ended: no call can succeed any more."""
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()
        """The event loop holds nothing of the child any more: it ended, and so did its pipes."""
        self._junk = 0
        self._spread: dict[str, Any] = {}
        """The version and the id of a message that is written over several lines."""

    async def start(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | Path | None = None
    ) -> None:
        """Start the server. Raises `ConnectFailed` if the program cannot be started."""
        options: dict[str, Any] = {"env": processes.environment(env), "cwd": cwd, **processes.OWN_GROUP}
        try:
            await self._loop.subprocess_exec(lambda: self, *command, **options)
        except (OSError, ValueError) as error:
            raise ConnectFailed(f"Cannot start {command[0]!r}: {error}{processes.hint(command[0])}") from error

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._transport.get_pid()

    def agree(self, facts: versions.Facts | None) -> None:
        """Read batches where this version has them, and requests where a server may send them."""
        self.batches = lambda: facts is not None and facts.batches
        self.takes_requests = facts is None or not eras.is_version_of_requests(facts.version)

    def exchange(self, outgoing: base.Outgoing) -> Coroutine[Any, Any, jsonrpc.Response]:
        """Send a request and wait for its response. Raises `ConnectionClosed`."""
        return self.request(outgoing)

    def excuse(self) -> str:
        """Tell of lines that were skipped: an answer may have been among them."""
        return f"; {self._junk} lines of its output were not JSON-RPC messages" if self._junk else ""

    def drop(self) -> None:
        """End the child, soon; if its event loop is over, at once."""
        if self._closing is None and self._loop.is_closed():
            processes.end_group(self.pid, force=True)
        elif self._closing is None:
            self._loop.call_soon_threadsafe(self._watching.cancel)

    async def _watch(self) -> None:
        """Wait until the child ends, or closes its stdin or stdout. Then pending calls fail, after its last words.

        Cancelled while nobody closes the link, it does so itself: nobody will.
        """
        try:
            await self._broken.wait()
            await tasks.within(LAST_WORDS_SECONDS, self._gone)
            reason = ConnectionClosed(self._why())
            self.on_gone(reason)
            await self.lost(reason)
            await self._exited.wait()
        except asyncio.CancelledError:  # at the end of the event loop, all of its tasks are cancelled at once
            if self._closing is None and not await tasks.within(SILENT_GRACE_SECONDS, self._exited):
                try:
                    await self.close()
                finally:
                    warnings.warn(f"{self.name} was ended: its client was never closed", ResourceWarning, stacklevel=1)
            raise

    async def close(self) -> None:
        """Shut the child down and wait until it is gone, even while being cancelled."""
        if self._closing is None:
            self._closing = self._loop.create_task(self._shut_down())
            self._watching.cancel()
        await tasks.finish(self._closing)

    async def _shut_down(self) -> None:
        reason = ConnectionClosed(self._why())
        try:
            self.leave(reason)
            self.gather.flush()
            self._input.close()
            await self.lost(reason)
            if not await tasks.within(GRACE_SECONDS if self._output.spoke else SILENT_GRACE_SECONDS, self._exited):
                processes.end_group(self.pid, force=False)
                await tasks.within(GRACE_SECONDS, self._exited)
                processes.end_group(self.pid, force=True)
                await self._exited.wait()
        except asyncio.CancelledError:  # the event loop itself is ending
            processes.end_group(self.pid, force=True)
            raise
        finally:
            self._transport.close()
        await self._gone.wait()

    def _why(self) -> str:
        """Say why the connection ends, and quote the end of stderr."""
        code = self._transport.get_returncode()
        if self._closing is not None:
            text = f"The connection to {self.name} was closed"
        else:
            text = f"{self.name} {'closed its output' if code is None else processes.how_it_ended(code)}"
        text += self.excuse()
        lines = self.errors.decode(errors="replace").splitlines()
        said = [line for line in lines if line.strip()][-_SHOWN_STDERR_LINES:]
        return text + ("; the last it wrote to stderr:\n" + "\n".join(said) if said else "")

    # What the channel needs.

    def _write_out(self, data: bytes) -> None:
        if not self._input.is_closing():
            self._input.write(data)

    def refuse(self, bad: jsonrpc.BadMessage, send: channel.Send) -> None:  # noqa: ARG002 - nobody would read it
        """Report a line of output that is not a message; it is never acted upon."""
        self._junk += 1
        if self._junk <= _SHOWN_JUNK_LINES:
            log.warning(_JUNK, self.name, bad.shown(), bad.message, _SHOWN_JUNK_LINES)
        if bad.text.strip() == b"{":
            self._spread.clear()
        found = jsonrpc.ends(b"{" + bad.text, b"")
        self._spread |= {name: found[name] for name in ("jsonrpc", "id") if name in found}
        if self._spread.keys() >= {"jsonrpc", "id"}:
            bad.message, bad.id = "it is written over several lines, and each must be one", self._spread.pop("id")
            self.discredit(bad)

    # What the event loop sees.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, and read what the child says."""
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._input = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        pipe = cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))
        self._output = _Output(pipe, self.feed)
        self._watching = self._loop.create_task(self._watch())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take output of the child."""
        if fd == 1:
            self._output.data_received(data)
        else:
            if self._on_stderr is not None:
                self._on_stderr(data)
            self.errors += data
            del self.errors[:-STDERR_BYTES]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        """Take note that a pipe was closed."""
        if fd != 2:
            self._broken.set()

    def process_exited(self) -> None:
        """Take note that the process ended."""
        self._exited.set()
        self._broken.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        """Take note that nothing is left of the child."""
        self._gone.set()


class _Output(asyncio.Protocol):
    """Takes the output of a child right from its pipe; asyncio hands it on one turn of the event loop later."""

    def __init__(self, pipe: asyncio.ReadTransport, feed: Callable[[bytes], None]) -> None:
        self._before, self._feed = cast("asyncio.Protocol", pipe.get_protocol()), feed
        self.spoke = False
        """The child has said something."""
        pipe.set_protocol(self)

    def data_received(self, data: bytes) -> None:
        self.spoke = True
        self._feed(data)

    def eof_received(self) -> bool | None:
        return self._before.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._before.connection_lost(exc)
