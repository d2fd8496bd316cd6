"""Servers that other hosts of this user have, to be taken over here.

Approvals that another host was given are not taken: what a server may do unasked is the user's to say here.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from splice.host.config import jsonc
from splice.host.config.entries import Entry
from splice.host.config.hosts import HOSTS
from splice.host.config.reading import KEYS, OURS, entry_of, read
from splice.host.config.variables import inputs_of
from splice.host.places import keep
from splice.schema.schemas import is_array

_URLS = ("serverUrl", "httpUrl")
_LEFT = ("autoApprove", "alwaysAllow", "trust", "disabled", "enabled", "dev", OURS)
"""Members that are not taken over: they give leave, or are about the other host."""


def _code_profile() -> Path:
    """Find the file of the user's own that VS Code has beside that of the folder."""
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/Code/User/mcp.json")
    return Path("~/.config/Code/User/mcp.json")


_PLACES: Mapping[str, list[Callable[[], Path]]] = {
    "claude": [HOSTS["claude"].path],
    "claude-code": [lambda: Path("~/.claude.json"), HOSTS["claude-code"].path],
    "cursor": [lambda: Path(".cursor/mcp.json"), HOSTS["cursor"].path],
    "vscode": [HOSTS["vscode"].path, _code_profile],
    "windsurf": [HOSTS["windsurf"].path],
    "gemini": [lambda: Path(".gemini/settings.json"), HOSTS["gemini"].path],
}

FROM = tuple(_PLACES)
"""The hosts that servers can be taken over from."""


class Offer(NamedTuple):
    """A server that can be taken over."""

    entry: Entry
    """What `raw` says, and nothing else: a file may say two things of one server."""
    raw: dict[str, Any]
    """The entry as our files have it."""


def files_of(host: str, cwd: Path) -> list[Path]:
    """List where a host keeps its servers, there or not; those of the folder count before those of the user."""
    return [cwd / make().expanduser() for make in _PLACES[host]]


def offers(paths: Iterable[Path], cwd: Path) -> tuple[list[Offer], list[str]]:
    """Read what stands in files; of two of one name the first counts. Returns also what cannot be used."""
    found: dict[str, Offer] = {}
    problems: list[str] = []
    for path in paths:
        configuration = read(path, "user", cwd=cwd)
        problems += configuration.problems
        raw = dict(_raw(path, cwd)) if configuration.entries else {}
        for entry in configuration.entries:
            if (ours := raw.get(entry.key)) is not None:
                seen = entry_of(entry.key, ours, scope="user", source=path, folder=entry.folder)
                found.setdefault(entry.name, Offer(replace(seen, ignored=entry.ignored), ours))
    return list(found.values()), problems


def take_inputs(entry: Entry, path: Path) -> None:
    """Let a file of ours ask for the inputs that an entry takes. Raises `BadConfiguration` and `OSError`."""
    wanted = set(inputs_of(entry))
    if not wanted or entry.source is None:
        return
    text = jsonc.text_of(path)
    there = _inputs(jsonc.decode(text))
    ids = {each.get("id") for each in there}
    from_there = _inputs(jsonc.decode(jsonc.text_of(entry.source)))
    new = [each for each in from_there if each.get("id") in wanted and each.get("id") not in ids]
    if new:
        keep(path, jsonc.put(text, ["inputs"], [*there, *new]).encode(), path.stat().st_mode & 0o7777)


def _raw(path: Path, cwd: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """List the entries of a file as they stand there; of those of one name the last one counts."""
    root = _object(jsonc.decode(jsonc.text_of(path)))
    local = _object(_object(root.get("projects")).get(str(cwd)))
    for members in (_object(root.get("mcp")), root, local):
        for key in KEYS:
            for name, entry in _object(members.get(key)).items():
                yield name, _ours(_object(entry))


def _ours(raw: dict[str, Any]) -> dict[str, Any]:
    """Write an entry as our files have it; members that nobody knows stay."""
    return {"url" if key in _URLS else key: value for key, value in raw.items() if key not in _LEFT}


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _inputs(root: Any) -> list[dict[str, Any]]:
    found: Any = _object(root).get("inputs")
    return [_object(each) for each in found] if is_array(found) else []
