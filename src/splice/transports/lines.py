"""A channel over a byte stream, a JSON text per line: stdio on either side.

`feed` takes the bytes that arrive, cuts them into messages and acts on each at once. What is sent within one turn of
the event loop leaves in one write; a message that nothing else can join leaves at once.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from splice.protocol.jsonrpc import BadMessage, Lines, Message, Request, Success, decode, is_batch, refusal, split_batch
from splice.transports import base, channel

Write: TypeAlias = Callable[[bytes], None]
"""Writes bytes for the peer. Never blocks."""

GATHER_BYTES = 64 * 1024
"""More than this is not gathered but written: only a write can tell that the peer does not read."""


class Gather:
    """Collects what is written within one turn of the event loop, so that it leaves in one write.

    `end` is written after each part.
    """

    __slots__ = ("_end", "_loop", "_parts", "_size", "_write")

    def __init__(self, write: Write, end: bytes = b"") -> None:
        self._write, self._end = write, end
        self._loop = asyncio.get_running_loop()
        self._parts: list[bytes] = []
        self._size = 0

    def put(self, data: bytes, *, last: bool = False) -> None:
        """Write `data` before the event loop waits again, together with all that joins it; nothing joins the `last`."""
        if last and not self._parts:
            self._write(data + self._end)
            return
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)
        self._size += len(data)
        if last or self._size > GATHER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was collected."""
        if self._parts:
            data = self._end.join(self._parts) + self._end
            self._parts.clear()
            self._size = 0
            self._write(data)


class LineChannel(channel.Channel):
    """The messages of two peers on a pair of byte streams.

    `serve` and `hear` are as a channel's. A response that cannot be used ends the request it answers.
    """

    def __init__(self, write: Write, serve: channel.Serve, hear: base.Hear, sender: base.Sender) -> None:
        super().__init__(self._put, serve, hear, sender)
        self.lines = Lines()
        """Cuts the bytes that arrive."""
        self.takes_requests = True
        """The peer may send requests; else they are ignored."""
        self.batches: Callable[[], bool] = lambda: False
        """Tells whether a JSON array of messages is legal now; never, until somebody sets it."""
        self.gather = Gather(write, end=b"\n")

    def feed(self, data: bytes) -> None:
        """Take bytes that arrived and act on each message that is complete."""
        for line in self.lines.feed(data):
            try:
                self._take_line(line)
            except BadMessage as bad:
                if not self.discredit(bad):
                    self.refuse(bad, self.send)

    def _take_line(self, line: bytes | BadMessage) -> None:
        if isinstance(line, BadMessage):
            raise line
        if is_batch(line):
            if not self.batches():
                raise refusal("Invalid request: the protocol version has no batches; send one message", line)
            self._answer_batch(split_batch(line))
            return
        message = decode(line, remark=self.remark)
        if self.takes_requests or not isinstance(message, Request):
            self.take(message)
        else:
            self.remark(f"ignored its request {message.method!a}: servers of this version send none")

    def _answer_batch(self, texts: list[bytes]) -> None:
        """Act on a batch. One array holds the responses, once all are there."""
        responses: list[Message] = []
        requests = self.take_batch(texts, self._hear, partial(self.refuse, send=responses.append))
        tasks = [task for each in requests if (task := self.take(each, responses.append))]

        def ended(_: object) -> None:
            if responses and self.gone is None:
                self.gather.put(b"[" + b",".join(map(channel.written, responses)) + b"]")

        asyncio.gather(*tasks, return_exceptions=True).add_done_callback(ended)

    def refuse(self, bad: BadMessage, send: channel.Send) -> None:
        """Answer what is not a message."""
        send(bad.response())

    def _put(self, message: Message) -> None:
        """Send a message: now, if no other can be expected in this turn of the event loop."""
        # a failure may be one of many refusals
        answers = isinstance(message, Success) and not self.table.inbound
        last = answers or (isinstance(message, Request) and len(self.table.outbound) == 1)
        self.gather.put(channel.written(message), last=last)
