"""What the user last saw of every definition, so that none changes behind their back.

A pin is a definition with its SHA-256: of everything that the model or the policy sees of it, in canonical JSON. Pins
belong to a server as it is configured: under another command, or another URL, a server is a new one, and finds its pins
when it is configured as before. They are kept in one file, which several hosts may have open. When that file is damaged
nobody knows what was seen, so every tool waits until the user accepts it. So it is when a server had more tools than
are remembered.
"""

import errno
import fcntl
import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from splice.host.items import Finding
from splice.host.places import keep, private, set_aside
from splice.host.tools.search import terms
from splice.host.tools.words import leaves
from splice.types import Prompt, ResourceTemplate, Tool

Definition: TypeAlias = dict[str, Any]
Compared: TypeAlias = Literal["same", "new", "changed"]

MAX_PINS = 5_000
"""How many pins a server may have. Beyond, those of prompts and templates are not kept. The oldest of tools go, and
what has no pin waits from then on: it may be known."""
MAX_SERVER_BYTES = 2 * 2**20
"""How much text of one server is kept. Beyond, only fingerprints are: a change is noticed, but cannot be compared."""
MAX_BYTES = 256 * 2**20
"""A larger file is not read to its end, and so counts as damaged."""

MAX_LIKENED = 200
"""How many tools that are gone, and how many new ones, are held against each other."""
ALIKE, LEAST_WORDS = 0.7, 5
"""Two definitions are alike if so many of all their words are in both; fewer words say too little."""

_TRIES = 30
_SWITCH = "switch"
_CHOSEN = ("prompt", "template")
"""Kinds that the user chooses: their pins are for telling of changes only."""
_SEEN = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "arguments", "uriTemplate",
         "mimeType", "_meta")  # fmt: skip
"""Members of a definition that count. Pictures do not: their addresses may be signed anew each time."""


class Pin(Struct, omit_defaults=True):
    """A definition as the user may have seen it."""

    fingerprint: str
    definition: Definition
    is_looked_at: bool = False
    """The user looked at it; else it was only there when the server was first seen."""
    findings: list[Finding] = []
    linted: int = 0
    """Which edition of the rules found them."""
    notes: list[str] = []
    """What models are not told of it."""
    names: frozenset[str] | None = None
    """What may be names of other tools in its texts; None: that is not kept."""
    is_clean: bool = False
    """The model gets its schema as it is."""


class Pinned(Struct, omit_defaults=True):
    """What is kept of one server."""

    identity: str
    pins: dict[str, Pin] = field(default_factory=dict)
    """By kind and name: ``tool bookTrip``."""
    off: list[str] = []
    """Tools that the user switched off."""
    was_lost: bool = False
    """Pins of it may be gone: what is not pinned waits until the user accepts it."""


class Kept(Struct, omit_defaults=True):
    """The file."""

    version: int = 1
    was_lost: bool = False
    """It was damaged once: a server that is not in it may have been known before."""
    servers: dict[str, Pinned] = field(default_factory=dict)
    """By name and identity: another configuration of the same name takes nothing away."""


_decoder = msgspec.json.Decoder(Kept)


def definition(part: Tool | Prompt | ResourceTemplate | str) -> Definition:
    """Write what the model or the policy sees of a tool, a prompt, a template, or a server's instructions."""
    if isinstance(part, str):
        return {"instructions": part}
    written = msgspec.to_builtins(part)
    return {member: written[member] for member in _SEEN if member in written}


def fingerprint(written: Mapping[str, Any]) -> str:
    """Hash a definition; the order of its members does not count."""
    return sha256(json.dumps(written, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Gone:
    """Tools that a server had and has no more. A new one may be one of them, under another name."""

    def __init__(self, pins: Mapping[str, Pin]) -> None:
        self._words = {name: _words_of(pins[name].definition) for name in [*pins][-MAX_LIKENED:]}
        self._left = MAX_LIKENED

    def resembles(self, written: Definition) -> str:
        """Name the tool that a new one resembles most; empty if it is like none."""
        self._left -= 1
        if not self._words or self._left < 0:
            return ""
        words = _words_of(written)
        if len(words) < LEAST_WORDS:
            return ""
        likeness, name = max((len(words & old) / len(words | old), name) for name, old in self._words.items())
        return name if likeness >= ALIKE else ""


def _words_of(written: Definition) -> frozenset[str]:
    """Collect the words of all texts, and the names of all properties."""
    texts = list[str]()
    for path, value in leaves(written):
        texts += [str(name) for before, name in pairwise(path) if before == "properties"]
        if isinstance(value, str) and path[-1] not in ("name", "type", "$schema"):
            texts.append(value)
    return frozenset(terms(" ".join(texts)))


class Pins:
    """The pins of all servers, in a file. `say` is called with a sentence for the user when the file cannot be used."""

    def __init__(self, path: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._say = path, say
        self._changed = set[tuple[str, str]]()
        self._sizes: dict[str, int] = {}
        self._keys: dict[str, str] = {}
        self._kept = self._read()
        if self._kept.was_lost:
            self._write()  # at once: a file that is missing would say that nothing was ever seen

    def open(self, server: str, identity: str) -> bool:
        """Turn to a server, which is configured as ``identity`` tells. Return whether it is known."""
        key = self._keys[server] = f"{server} {identity}"
        self._sizes.pop(server, None)
        if key in self._kept.servers:
            return True
        same = [each for known, each in self._kept.servers.items() if known == f"{server} {each.identity}"]
        off = list(dict.fromkeys(tool for each in same for tool in each.off))
        self._kept.servers[key] = Pinned(identity, off=off, was_lost=self._kept.was_lost)
        return False

    def kept(self, server: str, identity: str, kind: str, name: str) -> Pin | None:
        """Return a pin of a server that was not turned to yet."""
        known = self._kept.servers.get(f"{server} {identity}")
        return None if known is None else known.pins.get(f"{kind} {name}")

    def was_lost(self, server: str) -> bool:
        """Tell whether pins of it may be gone: what has no pin may not be new."""
        return self._of(server).was_lost

    def check(self, server: str, kind: str, written: Definition) -> Compared:
        """Compare a definition with its pin."""
        pin = self.get(server, kind, str(written.get("name", "")))
        if pin is None:
            return "new"
        return "same" if pin.fingerprint == fingerprint(written) else "changed"

    def get(self, server: str, kind: str, name: str = "") -> Pin | None:
        """Return a pin; None if nothing of this name was seen."""
        return self._of(server).pins.get(f"{kind} {name}")

    def all(self, server: str, kind: str) -> dict[str, Pin]:
        """Return the pins of a kind by their names, also of what is offered no more."""
        start = f"{kind} "
        pins = self._of(server).pins
        return {key.removeprefix(start): pin for key, pin in pins.items() if key.startswith(start)}

    def pin(self, server: str, kind: str, pin: Pin) -> None:
        """Take a definition for seen. It is written to the file by `save`."""
        known, key = self._of(server), f"{kind} {pin.definition.get('name', '')}"
        if server not in self._sizes:
            self._sizes[server] = sum(map(_size, known.pins.values()))
        self._drop(server, key)
        if len(known.pins) >= MAX_PINS:
            if kind in _CHOSEN:
                return
            oldest = next(iter(known.pins))
            known.was_lost |= oldest.partition(" ")[0] not in _CHOSEN
            self._drop(server, oldest)
        if self._sizes[server] + _size(pin) > MAX_SERVER_BYTES:
            pin = replace(pin, definition={"name": pin.definition.get("name", "")}, names=None)
        known.pins[key] = pin
        self._sizes[server] += _size(pin)
        self._changed.add((server, key))

    def _of(self, server: str) -> Pinned:
        return self._kept.servers[self._keys[server]]

    def _drop(self, server: str, key: str) -> None:
        pin = self._of(server).pins.pop(key, None)
        if pin is not None:
            self._sizes[server] -= _size(pin)
            self._changed.add((server, key))

    def is_on(self, server: str, tool: str) -> bool:
        """Tell whether the user lets the model have a tool. True unless it was switched off."""
        return tool not in self._of(server).off

    def switch(self, server: str, tool: str, on: bool) -> None:
        """Remember that a tool is on or off."""
        _switch(self._of(server), tool, on)
        self._changed.add((server, f"{_SWITCH} {tool}"))

    def save(self) -> None:
        """Write what changed, beside what other hosts wrote. One that cannot be written is said, and tried again."""
        if self._changed:
            self._write()

    def _write(self) -> None:
        try:
            private(self._path.parent)
            with _locked(self._path):
                now = self._read()
                now.was_lost = now.was_lost or self._kept.was_lost
                for server, key in self._changed:
                    name = self._keys[server]
                    _merge(now.servers.setdefault(name, self._kept.servers[name]), self._kept.servers[name], key)
                keep(self._path, msgspec.json.encode(now))
        except OSError as error:
            self._say(f"What you saw of tools cannot be kept in {self._path}: {error.strerror or error}")
            return
        self._changed.clear()

    def _read(self) -> Kept:
        try:
            with self._path.open("rb") as file:
                return _decoder.decode(file.read(MAX_BYTES))
        except FileNotFoundError:
            return Kept()
        except OSError as error:
            self._lost(f"{self._path} cannot be read ({error.strerror or error})")
        except (ValueError, RecursionError) as error:
            aside = set_aside(self._path)
            self._lost(f"{self._path} is damaged ({error}), and is now {aside.name}")
        return Kept(was_lost=True)

    def _lost(self, what: str) -> None:
        self._say(f"{what}. What you saw of tools is not known any more, so each one waits until you accept it")


def _size(pin: Pin) -> int:
    return len(msgspec.json.encode(pin))


def _switch(known: Pinned, tool: str, on: bool) -> None:
    known.off = [each for each in known.off if each != tool] + ([] if on else [tool])


def _merge(theirs: Pinned, mine: Pinned, key: str) -> None:
    """Put one change of ours into what the file has now."""
    kind, _, name = key.partition(" ")
    theirs.was_lost = theirs.was_lost or mine.was_lost
    if kind == _SWITCH:
        _switch(theirs, name, name not in mine.off)
    elif key in mine.pins:
        theirs.pins[key] = mine.pins[key]
    else:
        theirs.pins.pop(key, None)


@contextmanager
def _locked(path: Path) -> Generator[None, None, None]:
    """Keep other hosts from writing; it takes them milliseconds. Raises `OSError` for one that does not end."""
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(_TRIES):
            if _try(descriptor):
                break
            time.sleep(0.01)
        else:
            raise TimeoutError(errno.EAGAIN, "another host is writing it, and does not end")
        yield
    finally:
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
