"""What the demo model says of results: data as a table or as facts, text as a quotation, always by a template."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from splice.host.models.demo.facts import leaves
from splice.host.models.demo.fields import items, mapping, words_of
from splice.host.models.demo.talk import Done

MAX_ROWS = 10
MAX_COLUMNS = 6
MAX_FACTS = 14
MAX_CELL = 80
HEAD_LINES = 12
HEAD_CHARACTERS = 900


def tool_name(name: str) -> str:
    """Write the name of a tool for people: ``travel__bookTrip`` is bookTrip."""
    return name.rpartition("__")[2]


def full(done: Done) -> str:
    """Answer with a result: the whole template."""
    if not done.is_ok:
        return failure(done)
    value = done.value
    body = table(value) if value is not None else ""
    return f"{tool_name(done.name)} answered:\n\n{body or quoted(done.text)}"


def brief(done: Done) -> str:
    """Tell in one line what came of a call."""
    if not done.is_ok:
        return failure(done)
    line = next(
        (each for each in done.text.splitlines() if each.strip() and not each.lstrip().startswith(("{", "["))), ""
    )
    value = done.value
    if value is not None and not line:
        line = _gist(value)
    return f"- {tool_name(done.name)}: {cell(line or 'done', 200)}"


def failure(done: Done) -> str:
    """Tell that a call failed, was denied, or ended without what it was to do."""
    name, why = tool_name(done.name), cell(done.text or "no reason was given", 300)
    if done.is_denied:
        said = re.search(r"They say: (.{1,200}?)(?: Do not try|$)", done.text)
        reason = f" ({cell(said[1])})" if said else ""
        return f"- {name} was not called: you did not allow it{reason}. I can go on without it."
    if done.undone:
        return f"- {name} ended as “{done.undone}”: {why}"
    return f"- {name} failed: {why}"


def table(value: Any) -> str:
    """Write data as Markdown: a list of objects as a table, an object as facts."""
    value = _unwrapped(value)
    rows = items(value)
    if rows and all(isinstance(each, dict) for each in rows):
        return _rows([mapping(each) for each in rows])
    if rows:
        more = f"\n- … and {len(rows) - MAX_ROWS} more" if len(rows) > MAX_ROWS else ""
        return "\n".join(f"- {cell(each)}" for each in rows[:MAX_ROWS]) + more
    if isinstance(value, dict):
        return _facts(mapping(value))
    return "Nothing was found." if value in ([], {}, None) else cell(value, HEAD_CHARACTERS)


def quoted(text: str) -> str:
    """Quote the head of a text."""
    lines = text[:HEAD_CHARACTERS].splitlines()[:HEAD_LINES] or ["(nothing)"]
    head = "\n".join(f"> {line}" for line in lines)
    is_cut = len(text) > len("\n".join(lines))
    return f"{head}\n\n(the beginning of {len(text):,} characters)" if is_cut and text else head


def cell(value: Any, most: int = MAX_CELL) -> str:
    """Write a value in one line, so that it cannot end a cell of a table."""
    if isinstance(value, bool) or value is None:
        text = {True: "yes", False: "no", None: "none"}[value]
    elif isinstance(value, str):
        text = value
    elif isinstance(value, list):
        text = (
            f"{len(items(value))} entries"
            if any(isinstance(each, dict) for each in items(value))
            else ", ".join(map(str, items(value)))
        )
    else:
        named = next(
            (each for name in ("title", "name", "id") if isinstance(each := mapping(value).get(name), str)), ""
        )
        text = named or (json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict) else str(value))
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= most else line[: most - 1] + "…"


def option_line(value: Any) -> str:
    """Describe the first option of a result: its name or id, its times and its price."""
    option = chosen(value)
    found: dict[str, str] = {}
    for leaf in leaves(option):
        if leaf.is_first and leaf.path[-1] not in found and isinstance(leaf.value, str | int | float):
            found[leaf.path[-1]] = cell(leaf.value)
    shown = [found[name] for name in ("name", "title", "airline", "id") if name in found]
    shown += [f"{name} {found[name].replace('T', ' ')[:16]}" for name in ("departs", "arrives") if name in found]
    shown += [f"{found['stars']} stars"] if "stars" in found else []
    return ", ".join(shown)


def reason(value: Any) -> str:
    """Give the reason that a result tells for its first option; empty if it tells none."""
    told = chosen(value).get("reason")
    return cell(told, 200) if isinstance(told, str) else ""


def chosen(value: Any) -> Mapping[str, Any]:
    """Give the first option among those that a result lists; nothing if it lists none with an id."""
    for each in [value, *mapping(value).values()]:
        if items(each) and isinstance(items(each)[0], dict):
            option = mapping(items(each)[0])
            if any(leaf.path[-1] == "id" and leaf.is_first for leaf in leaves(option)):
                return option
    return {}


def cost(done: Done) -> float | None:
    """Tell what the first option costs for all who go: a total as it is, a price for each of them."""
    totals, prices = list[float](), list[float]()
    for leaf in leaves(chosen(done.value)):
        if leaf.path[-1] in {"total", "price"} and re.fullmatch(r"\$?\d{1,9}(?:\.\d+)?", str(leaf.value)):
            (totals if leaf.path[-1] == "total" else prices).append(float(str(leaf.value).lstrip("$")))
    people = [
        value for name, value in done.arguments.items() if {"travelers", "passengers", "people"} & set(words_of(name))
    ]
    if totals:
        return min(totals)
    many = people[0] if people and isinstance(people[0], int) else 1
    return prices[0] * many if prices else None


def _unwrapped(value: Any) -> Any:
    here = mapping(value)
    return next(iter(here.values())) if len(here) == 1 and items(next(iter(here.values()))) else value


def _rows(rows: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(str(name) for row in rows[:MAX_ROWS] for name in row))[:MAX_COLUMNS]
    lines = [f"| {' | '.join(cell(each, 40) for each in names)} |", "|" + " --- |" * len(names)]
    lines += [f"| {' | '.join(cell(row.get(name), 60) for name in names)} |" for row in rows[:MAX_ROWS]]
    more = f"\n\n… and {len(rows) - MAX_ROWS} more." if len(rows) > MAX_ROWS else ""
    return "\n".join(lines) + more


def _facts(value: Mapping[str, Any]) -> str:
    """List the facts of an object, and below them its first list of objects as a table."""
    nested = next((each for each in value.values() if items(each) and isinstance(items(each)[0], dict)), None)
    lines = [
        f"- {cell(name, 40)}: {cell(each, 160)}" for name, each in list(value.items())[:MAX_FACTS] if each is not nested
    ]
    return "\n".join(lines) + (f"\n\n{_rows([mapping(each) for each in items(nested)])}" if nested else "")


def _gist(value: Any) -> str:
    value = _unwrapped(value)
    if isinstance(value, list):
        first = mapping(next(iter(items(value)), None))
        shown = ", ".join(cell(each, 40) for each in list(first.values())[:3])
        return f"{len(items(value))} found{', the first: ' if shown else ''}{shown}"
    told = mapping(value).get("summary")
    facts = [f"{name} {cell(each, 60)}" for name, each in list(mapping(value).items())[:5]]
    return told if isinstance(told, str) else "; ".join(facts)
