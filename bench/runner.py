"""Runs the sections in rounds: each measures everything once, peer after peer, so that all meet the same noise."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bench.peers import MCP, Peer
from bench.samples import Sample

Step: TypeAlias = tuple[str, Callable[[], Sample]]
"""What is measured, in words, and the measurement."""


@dataclass(frozen=True)
class Settings:
    """How long to measure."""

    rounds: int = 3
    seconds: float = 0.3
    """The length of one measurement."""
    scale: float = 1.0
    """What the counts of sessions, listeners and tools are multiplied by."""
    budget: float = 1170.0
    """No round is begun that would end later than this many seconds after the start..."""
    limit: float = 1190.0
    """...and no peer's measurements are begun later than this."""

    def count(self, full: int) -> int:
        """Scale a count."""
        return max(1, int(full * self.scale))


@dataclass(frozen=True)
class Section:
    """One table: which peers, and what is measured of each."""

    name: str
    title: str
    note: str
    peers: Sequence[Peer]
    columns: Sequence[str]
    ratio: Sequence[str]
    """The columns the ratio may be about: the first that a row has."""
    steps: Callable[[Peer, Settings], Iterator[Step]]
    baseline: Peer = MCP
    """The peer whose numbers are divided by the others', in the last column."""


@dataclass
class Row:
    """One line of a table: a sample per round, or why there is none."""

    section: str
    group: str
    peer: str
    samples: dict[int, Sample] = field(default_factory=dict)
    failure: str = ""


@dataclass
class Results:
    """All rows so far, in the order in which they were first measured."""

    rows: dict[tuple[str, str, str], Row] = field(default_factory=dict)
    rounds: int = 0
    seconds: float = 0.0

    def row(self, section: str, group: str, peer: str) -> Row:
        """Find or begin a row."""
        return self.rows.setdefault((section, group, peer), Row(section, group, peer))


def run(sections: Sequence[Section], settings: Settings, say: Callable[[str], None]) -> Results:
    """Measure all sections, round after round, until the rounds are done or the time is up."""
    results = Results()
    began = time.monotonic()
    for number in range(settings.rounds):
        started = time.monotonic()
        for section in sections:
            for peer in section.peers:
                say(f"round {number + 1}/{settings.rounds}  {section.name}  {peer.name}")
                if time.monotonic() - began > settings.limit:
                    results.row(section.name, "", peer.name).failure = f"round {number + 1} left out: no time left"
                else:
                    _measure(section, peer, settings, results, number)
        now = time.monotonic()
        results.rounds, results.seconds = number + 1, now - began
        if number + 1 < settings.rounds and now - began + (now - started) > settings.budget:
            say(f"stopped after round {number + 1}: the next would not end in time")
            break
    return results


def _measure(section: Section, peer: Peer, settings: Settings, results: Results, number: int) -> None:
    """Take one peer's measurements; what goes wrong is kept as the reason, and the others go on."""
    if not peer.installed():
        results.row(section.name, "", peer.name).failure = "not installed"
        return
    group = ""
    try:
        for group, measure in section.steps(peer, settings):
            row = results.row(section.name, group, peer.name)
            try:
                row.samples[number] = measure()
            except Exception as error:  # noqa: BLE001  -- whatever it is, it is this row's result
                row.failure = _reason(error)
    except Exception as error:  # noqa: BLE001  -- the peer could not even be started
        results.row(section.name, group, peer.name).failure = _reason(error)


def _reason(error: Exception) -> str:
    return f"failed: {str(error) or type(error).__name__}".replace("\n", " ").replace("|", "/")
