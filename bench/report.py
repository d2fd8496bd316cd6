"""Tables of the results: medians over the rounds, and ratios taken round by round."""

import os
import platform
import time
from collections.abc import Iterator, Sequence
from statistics import median

from bench.peers import titled
from bench.runner import Results, Row, Section

INTRODUCTION = """\
Written by `python -m bench`. Every round measures everything once, peer after peer, on this machine; a cell is the
median over the rounds. CPU is the time all threads of the measured process spent, which other work on the machine
disturbs least; calls per second and p50 are of the moment. The last column says how many times less than `mcp` a row
costs (the first column that is CPU or memory): the ratio is taken in each round, and shown as its median with the
smallest and the largest in brackets. Floors are bare responders that check nothing: the most this machine allows."""


def markdown(sections: Sequence[Section], results: Results) -> str:
    """Write the whole report."""
    parts = ["# Measurements", INTRODUCTION, _circumstances(results)]
    for section in sections:
        parts += [f"## {section.title}", section.note, "\n".join(table(section, results))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _circumstances(results: Results) -> str:
    system = f"{os.cpu_count()} CPUs, Linux {platform.release()}, Python {platform.python_version()}"
    load = f"load at the end {os.getloadavg()[0]:.1f}"
    when = time.strftime("%Y-%m-%d", time.gmtime())
    return f"{when}; {system}; {load}; {results.rounds} rounds in {results.seconds:.0f} s."


def table(section: Section, results: Results) -> Iterator[str]:
    """Write one section as the lines of a markdown table, grouped by what was measured."""
    yield "| | " + " | ".join(["measured", *section.columns, f"times less than {section.baseline.label}"]) + " |"
    yield "|---|---|" + "---:|" * (len(section.columns) + 1)
    names = titled(section.peers)
    rows = [row for row in results.rows.values() if row.section == section.name]
    order = [peer.name for peer in section.peers]
    groups = list(dict.fromkeys(row.group for row in rows))
    for row in sorted(rows, key=lambda row: (groups.index(row.group), order.index(row.peer))):
        yield _line(section, results, row, names[row.peer])


def _line(section: Section, results: Results, row: Row, name: str) -> str:
    if not row.samples:
        cells = [row.failure, *[""] * len(section.columns)]
    else:
        cells = [_cell(row, column) for column in section.columns]
        column = next((name for name in section.ratio if name in next(iter(row.samples.values()))), "")
        trouble = f" (but in one round {row.failure})" if row.failure else ""
        cells.append(spread(ratios(results, row, column, section.baseline.name)) + trouble)
    return f"| {name} | {row.group} | " + " | ".join(cells) + " |"


def _cell(row: Row, column: str) -> str:
    value = middle(row, column)
    return "" if value is None else figure(value)


def middle(row: Row, column: str) -> float | None:
    """Take the median of a column over the rounds; nothing when it was never measured."""
    values = [sample[column] for sample in row.samples.values() if column in sample]
    return median(values) if values else None


def ratios(results: Results, row: Row, column: str, baseline: str) -> list[float]:
    """Divide another peer's number by this row's, for each round that has both."""
    other = results.rows.get((row.section, row.group, baseline))
    if other is None:
        return []
    pairs = ((other.samples.get(number, {}), sample) for number, sample in row.samples.items())
    costs = ((theirs.get(column, 0.0), ours.get(column, 0.0)) for theirs, ours in pairs)
    return [theirs / ours for theirs, ours in costs if theirs > 0 and ours > 0]


def spread(values: Sequence[float]) -> str:
    """Write ratios as their median with the smallest and the largest."""
    if not values:
        return ""
    return f"{figure(median(values))}x [{figure(min(values))}..{figure(max(values))}]"


def figure(value: float) -> str:
    """Write a number with three figures that matter."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
