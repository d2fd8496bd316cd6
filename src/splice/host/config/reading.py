"""Reads the servers out of the files of hosts: Claude, VS Code, Cursor, Windsurf, Gemini and ours.

Ours is `.mcp.json` with an object `mcpServers`, and a block `x-splice` in an entry for what others do not have. One
file or entry that cannot be used is told of, and hides no other.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice.host.config import jsonc
from splice.host.config.entries import Entry, LoginFacts, Options, Scope, ToolFilter, Transport
from splice.host.config.inputs import Input
from splice.host.config.jsonc import BadConfiguration
from splice.host.places import Places, at_home
from splice.host.text import one_line

PROJECT_FILES = (".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json")
"""Where a project names servers. Of two of one name the first counts."""

_HALF = re.compile(r"[\ud800-\udfff]")

KEYS = ("mcpServers", "servers")
"""Members that hold servers."""

OURS = "x-splice"

MAX_NAME = 100

MAX_SERVERS = 500
"""How many servers are read from one file."""

_TYPES: Mapping[str, Transport] = {
    **dict.fromkeys(("stdio", "local"), "stdio"),
    **dict.fromkeys(("http", "streamable-http", "streamableHttp", "streamable_http", "remote"), "http"),
    "sse": "sse",
}
URLS = ("url", "serverUrl", "httpUrl")

_INCLUDE = ("includeTools", "allowedTools")
_EXCLUDE = ("excludeTools", "excludedTools", "disabledTools")

_NOT_DONE = (
    *("autoApprove", "alwaysAllow", "trust", "alwaysLoad", "headersHelper", "sandbox", "sandboxEnabled", "dev"),
    *("authProviderType", "oauth.authServerMetadataUrl"),
)
"""What other hosts read and this one does not act on: approvals above all are the user's to give."""

_SUFFIXES = {".vscode", ".cursor", ".gemini", ".windsurf"}
"""Folders inside of a project that hold such a file."""


class Configuration(Struct):
    """What stands in one file, or in several."""

    entries: list[Entry] = []
    inputs: list[Input] = []
    problems: list[str] = []
    """What of it cannot be used, but for single entries, which say it themselves."""
    unread: list[Path] = []
    """The files that could not be read, so that nobody knows what stands in them."""


def standard_files(cwd: Path, places: Places) -> list[tuple[Path, Scope]]:
    """List the files that the host reads unless it is told others: the project's and the user's, if they are there."""
    wanted: list[tuple[Path, Scope]] = [*((cwd / each, "project") for each in PROJECT_FILES), (places.servers, "user")]
    return [(path, scope) for path, scope in wanted if path.exists()]


def scope_of(path: Path, cwd: Path) -> Scope:
    """Tell whose a file is that the user names. The project's own may be a stranger's all the same."""
    resolved = path.resolve()
    return "project" if resolved in {(cwd / each).resolve() for each in PROJECT_FILES} else "given"


def read(path: Path, scope: Scope, *, cwd: Path | None = None) -> Configuration:
    """Read one file. Never raises: what cannot be used is told of. `cwd` is the folder that the host works in."""
    here = (cwd or Path.cwd()).absolute()
    try:
        members = _members(jsonc.decode(jsonc.text_of(path)))
    except BadConfiguration as error:
        return Configuration(problems=[f"{path}: {error}"], unread=[path])
    found = Configuration()
    origin = _Origin(path, scope, project_of(path) if scope == "project" else here)
    own = {} if scope == "project" else _object(members.get("projects"))  # a stranger's entry is not the user's own
    local = _object(own.get(str(here)))
    _take(found, local, replace(origin, is_local=True))
    count = _take(found, members, origin) + _take(found, _object(members.get("mcp")), origin)
    if not count and not local:
        found.problems.append(f"{path} has no servers: it needs an object `mcpServers`, or `servers`")
    _read_inputs(found, members.get("inputs"), path)
    return found


def project_of(path: Path) -> Path:
    """Return the folder of the project that a file belongs to."""
    folder = path.absolute().parent
    return folder.parent if folder.name in _SUFFIXES else folder


def gathered(found: Iterable[Configuration]) -> Configuration:
    """Put several files together. Of entries of one name one counts as a whole.

    What is given goes first, then the user's own for this folder, the project's, and the user's for all.
    """
    every = list(found)
    entries: dict[str, Entry] = {}
    problems = [each for configuration in every for each in configuration.problems]
    for entry in sorted((entry for each in every for entry in each.entries), key=_rank):
        first = entries.setdefault(entry.name, entry)
        if first.scope == "project" and entry.scope == "user":
            problems.append(
                f"the server {entry.name!r} is the project's, {first.source}, and not your own of that name"
            )
    inputs = [each for configuration in every for each in configuration.inputs]
    unread = [each for configuration in every for each in configuration.unread]
    return Configuration(list(entries.values()), inputs, problems, unread)


def _rank(entry: Entry) -> int:
    return 0 if entry.scope == "given" else 1 if entry.is_local else 2 if entry.scope == "project" else 3


class _Origin(Struct, frozen=True):
    path: Path
    scope: Scope
    folder: Path
    is_local: bool = False


def _members(value: Any) -> dict[str, Any]:
    """Raise `BadConfiguration` for what is not an object."""
    if not isinstance(value, dict):
        raise BadConfiguration("it is not an object")
    return cast("dict[str, Any]", value)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _take(found: Configuration, members: Mapping[str, Any], origin: _Origin) -> int:
    """Add the servers that stand in an object. Returns how many members it has that hold servers."""
    holders = [(key, members[key]) for key in KEYS if key in members]
    for key, holder in holders:
        if not isinstance(holder, dict):
            found.problems.append(f"{origin.path}: `{key}` is not an object")
            continue
        servers = cast("dict[str, Any]", holder)
        if len(servers) > MAX_SERVERS:
            found.problems.append(f"{origin.path}: of {len(servers)} servers the first {MAX_SERVERS} are read")
        for name, raw in islice(servers.items(), MAX_SERVERS):
            entry = entry_of(name, raw, scope=origin.scope, source=origin.path, folder=origin.folder)
            known = {each.name for each in found.entries if each.is_local == origin.is_local}
            if entry.name in known:
                found.problems.append(f"{origin.path}: there is a server {entry.name!r} already")
            else:
                found.entries.append(replace(entry, is_local=origin.is_local))
    return len(holders)


def entry_of(
    key: str, raw: Any, *, scope: Scope = "given", source: Path | None = None, folder: Path | None = None
) -> Entry:
    """Read one entry. Never raises: one that cannot be used has a `problem`."""
    name = one_line(key.replace("/", "."))[:MAX_NAME]
    entry = Entry(name=name or "?", key=key, scope=scope, source=source, folder=folder)
    if not name or name != key.replace("/", "."):
        return replace(entry, problem="its name is empty, too long, or has characters that cannot be seen")
    try:
        members = _members(raw)
        entry = replace(entry, ignored=tuple(_ignored(members)))
        return _with_options(_with_place(entry, members), members)
    except BadConfiguration as error:
        return replace(entry, problem=str(error))


def _with_place(entry: Entry, members: Mapping[str, Any]) -> Entry:
    """Read what is started, or where it is. Raises `BadConfiguration`."""
    kind = members.get("type", members.get("transport"))
    url_key = next((key for key in URLS if key in members), None)
    if kind is not None and not (isinstance(kind, str) and kind in _TYPES):
        raise BadConfiguration(f"its `type` is {_shown(kind)}; stdio, http and sse are known")
    transport: Transport = _TYPES[kind] if kind is not None else "http" if "command" not in members else "stdio"
    if transport == "stdio" and "command" not in members:
        raise BadConfiguration("it has no `command`")
    if transport != "stdio" and url_key is None:
        there = ", ".join(f"`{one_line(name)[:40]}`" for name in list(members)[:3])
        neither = f"it has neither `command` nor `url`{f', but {there}' if there else ''}"
        raise BadConfiguration(neither if kind is None else "it has no `url`")
    if kind is None and "command" in members and url_key is not None:
        raise BadConfiguration("it has both `command` and `url`: `type` should say which")
    disabled = members.get("disabled") is True or members.get("enabled") is False
    if transport != "stdio" and url_key is not None:
        url, headers = _text(members[url_key], url_key), _texts(members.get("headers"), "headers")
        login = _login(members.get("oauth"), members.get("auth"))
        return replace(entry, transport=transport, url=url, headers=headers, login=login, disabled=disabled)
    return replace(
        entry,
        transport="stdio",
        command=_text(members["command"], "command"),
        args=tuple(_listed(members.get("args"), "args")),
        env=_texts(members.get("env"), "env"),
        env_file=_text(members.get("envFile", ""), "envFile"),
        cwd=_text(members.get("cwd") or "", "cwd"),
        disabled=disabled,
    )


def _with_options(entry: Entry, members: Mapping[str, Any]) -> Entry:
    """Read our block, of a project's without favours. Raises `BadConfiguration`."""
    try:
        options = msgspec.convert(members.get(OURS, {}), Options)
    except msgspec.ValidationError as error:
        raise BadConfiguration(f"`{OURS}`: {error}") from error
    if not 0 < options.timeout <= 86_400:
        raise BadConfiguration(f"`{OURS}`: `timeout` is a number of seconds, up to a day")
    _listed(list(options.roots or ()), f"{OURS}.roots")
    include = next((_listed(members[key], key) for key in _INCLUDE if key in members), None)
    exclude = [name for key in _EXCLUDE if key in members for name in _listed(members[key], key)]
    if (include is not None or exclude) and options.tools == ToolFilter():
        options = replace(options, tools=ToolFilter(None if include is None else tuple(include), tuple(exclude)))
    entry = replace(entry, options=options)
    return without_favours(entry) if entry.scope == "project" else entry


def without_favours(entry: Entry) -> Entry:
    """Take out of an entry's block what a stranger may not ask for: belief, and folders outside of the project."""
    options, ignored = entry.options, list(entry.ignored)
    if options.trust_annotations:
        ignored.append("trustAnnotations: true")
    kept = [each for each in options.roots or () if _is_inside(each, entry.folder)]
    ignored += [
        f"root {one_line(each)}, which is outside of the project" for each in options.roots or () if each not in kept
    ]
    options = replace(options, trust_annotations=False, roots=None if options.roots is None else tuple(kept))
    return replace(entry, options=options, ignored=tuple(ignored))


def _is_inside(root: str, folder: Path | None) -> bool:
    if folder is None:
        return False
    return (folder / at_home(root)).resolve().is_relative_to(folder.resolve())


def _ignored(members: Mapping[str, Any]) -> Iterable[str]:
    for key in _NOT_DONE:
        outer, _, inner = key.partition(".")
        value: Any = _object(members.get(outer)).get(inner) if inner else members.get(key)
        if value not in (None, False, [], {}):
            listed = cast("list[object]", value) if isinstance(value, list) else None
            yield f"{key}: {_shown(value) if listed is None else one_line(', '.join(map(str, listed)))[:200]}"


def _login(oauth: Any, auth: Any) -> LoginFacts:
    """Read how to log in, as Claude Code and Cursor write it. Raises `BadConfiguration`."""
    ours, theirs = _object(oauth), _object(auth)
    scopes: Any = ours.get("scopes", theirs.get("scopes"))
    port: Any = ours.get("callbackPort", 0)
    if not isinstance(port, int) or not 0 <= port < 65536:
        raise BadConfiguration(f"`oauth.callbackPort` is not a port: {_shown(port)}")
    return LoginFacts(
        client_id=_text(ours.get("clientId", theirs.get("CLIENT_ID", "")), "clientId"),
        client_secret=_text(ours.get("clientSecret", theirs.get("CLIENT_SECRET", "")), "clientSecret"),
        scopes=tuple(scopes.split() if isinstance(scopes, str) else _listed(scopes, "scopes")),
        port=port,
    )


def _read_inputs(found: Configuration, raw: Any, path: Path) -> None:
    for each in cast("list[object]", raw) if isinstance(raw, list) else []:
        try:
            found.inputs.append(replace(msgspec.convert(each, Input), source=path))
        except msgspec.ValidationError as error:
            name = one_line(str(_object(each).get("id", "?")))[:MAX_NAME]
            found.problems.append(f"{path}: the input {name!r} cannot be used: {error}")


def _shown(value: Any) -> str:
    return one_line(msgspec.json.encode(value).decode())[:200]


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise BadConfiguration(f"`{where}`: {_shown(value)} should be text")
    if "\0" in value or _HALF.search(value):
        raise BadConfiguration(f"`{where}` has a null character, or half of a surrogate pair, in it")
    return value


def _listed(value: Any, where: str) -> list[str]:
    if value is not None and not isinstance(value, list):
        raise BadConfiguration(f"`{where}`: {_shown(value)} should be a list of texts")
    return [_text(each, where) for each in cast("list[object]", value or [])]


def _texts(value: Any, where: str) -> dict[str, str]:
    """Read an object of texts; numbers are written as such."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadConfiguration(f"`{where}`: {_shown(value)} should be an object of texts")
    return {
        _text(name, where): str(each)
        if isinstance(each, int | float) and not isinstance(each, bool)
        else _text(each, where)
        for name, each in cast("dict[str, Any]", value).items()
    }
