"""Calls over a child's pipes, a fixed number in flight, at little cost to the caller."""

import re
import time
from typing import Any

import msgspec

from bench.peers import Wire
from bench.process import Child, Failed
from bench.samples import Sample, sample
from bench.wire import INITIALIZED, PLACE, check_answer, opening

ID = re.compile(rb'"id":\s*(\d+)')
REFUSED = re.compile(rb'"error"|"isError":\s*true')


class Pipes:
    """One conversation with a stdio server."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self._rest = b""
        self._next = PLACE

    def open(self, wire: Wire, timeout: float = 60.0) -> dict[str, Any]:
        """Open the conversation and return the first answer."""
        answer = self.ask(opening(wire), timeout)
        if "result" not in answer:
            raise Failed(f"refused to open: {str(answer)[:160]}")
        if wire == "legacy":
            self.child.write(INITIALIZED + b"\n")
        return answer

    def ask(self, template: bytes, timeout: float = 30.0) -> dict[str, Any]:
        """Send one request and wait for its answer, passing over notifications."""
        line = self.ask_raw(template, timeout)
        return msgspec.json.decode(line, type=dict[str, Any])

    def ask_raw(self, template: bytes, timeout: float = 30.0) -> bytes:
        """Send one request and wait for the line that answers it."""
        number = self._next
        self._next += 1
        self.child.write(template % number + b"\n")
        while True:
            line = self._line(timeout)
            found = ID.search(line[:200]) or ID.search(line[-200:])
            if found and int(found[1]) == number:
                return line

    def _line(self, timeout: float) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            parts.append(self.child.read(timeout))
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def drive(self, template: bytes, *, in_flight: int, seconds: float) -> Sample:
        """Keep `in_flight` requests under way for `seconds`, then wait for the last answers."""
        check_answer(self.ask(template))
        template += b"\n"
        first = number = self._next
        sent: list[float] = []
        took: list[float] = []
        cpu, began = self.child.cpu(), time.perf_counter()
        deadline, new, now = began + seconds, in_flight, began
        while len(took) < len(sent) or new:
            if new:
                self.child.write(b"".join([template % (number + i) for i in range(new)]))
                number += new
                sent += [now] * new
            answered = self._answered()
            now = time.perf_counter()
            took += [now - sent[int(each) - first] for each in answered]
            new = len(answered) if now < deadline else 0
        self._next = number
        return sample(took, now - began, self.child.cpu() - cpu, self.child.rss())

    def _answered(self) -> list[bytes]:
        """Read whole lines and name the ids they answer."""
        data = self._rest + self.child.read()
        lines, newline, self._rest = data.rpartition(b"\n")
        if REFUSED.search(lines):
            raise Failed(f"refused: {lines[:200].decode('utf-8', 'replace')}")
        return ID.findall(lines) if newline else []
