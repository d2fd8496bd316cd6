"""Servers as a person types or pastes them, in whatever face: a command line, an address, or JSON of other hosts.

    uvx travel-server                           KEY=value npx -y @acme/mcp-server-maps
    https://mcp.acme.example/mcp                https://mcp.acme.example/mcp -H 'Authorization: Bearer ${KEY}'
    {"mcpServers": {...}}, {"servers": {...}}   {"travel": {...}}, {"command": "uvx", "args": ["travel-server"]}

Quotes hold words together as in a shell, and nothing else of a shell is done. Nothing is started or looked up.
"""

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, cast

from msgspec import Struct

from splice.host.config import jsonc
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import KEYS, MAX_NAME, MAX_SERVERS, URLS, entry_of
from splice.host.text import one_line, unseen

MAX_TEXT = 2**20
"""How many characters are read."""

MAX_COMMAND = 32_768
"""How long a command line may be: as long as Windows takes it."""

_OBJECT = '{"command": "uvx", "args": ["server"]}'
_HEADER = "-H 'Name: value'"

_JSON = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*+[\[{]", re.DOTALL)
_URL = re.compile(r"https?://", re.IGNORECASE)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_CONTINUED = re.compile(r"\\(?:\r?\n|\Z)")
_BLANKS = "".join(each for each in map(chr, range(0x3001)) if each.isspace()) + "\ufeff"
_PATH = re.compile(r"""(?:^|[\s=]|(?<!\\)["'])(?:[A-Za-z]:|%\w+%|\.{1,2}|\\\\[\w.$?-]+)\\(?!\\)""")
"""The beginning of a path of Windows: `C:\\`, `%APPDATA%\\`, `.\\`, `\\\\server\\`."""
_WITHIN = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\\W|(\w\\\w)""", re.DOTALL)
"""Outside of quotes, a backslash that no shell needs."""

_MARKS = ("command", "type", *URLS)
"""Members of an entry, of which it has one at least."""

_HOST = re.compile(r"https?://(?:[^/?#@]*@)?(?:mcp\.|www\.|api\.)?(\d+(?:\.\d+){3}|[a-z0-9-]+)", re.IGNORECASE)
_RUNNERS = re.compile(r"npx|bunx?|pnp[mx]|yarn|deno|node|uvx?|pipx|python[\d.]*|py|docker|podman|cmd|env|run|exec|dlx")
_TAKING = ("-e", "--env", "--env-file", "-v", "--volume", "--mount", "--network")
"""Options of runners with a word behind them that is not what they run."""
_ENDS = re.compile(r"(?<=.)(?:@|==).*$|\.(?:py|js|mjs|ts|exe|cmd)$")
_AROUND = re.compile(r"^(?:mcp[-_]server|server|mcp)[-_]|[-_](?:mcp[-_]server|mcp|server)$")


class NotRead(BadConfiguration):
    """No server can be read out of what was typed: `what` is wrong, and `mend` says what to write instead."""

    def __init__(self, what: str, mend: str = "") -> None:
        super().__init__(f"{what[:1].upper()}{what[1:]}{f': {mend}' if mend else ''}")
        self.what, self.mend = what, mend


class Typed(Struct, frozen=True):
    """A server that was typed."""

    name: str
    """Empty if nothing in the text says how to call it."""
    entry: dict[str, Any]
    """As it stands in a file. Whether it can be used is not known yet."""
    is_proposed: bool = False
    """The name was made up: nobody gave it."""


def typed(text: str, name: str = "", taken: Collection[str] = ()) -> list[Typed]:
    """Read what was typed. Raises `NotRead`.

    `name` is for a server that the text does not name. Without it one is proposed that is not among those `taken`.
    """
    if len(text) > MAX_TEXT:
        raise NotRead(f"this has {len(text):,} characters", f"{MAX_TEXT:,} are read; paste fewer servers at once")
    text = text.strip(_BLANKS)
    found = of_json(text) if _JSON.match(text) else [("", _of_line(text))]
    return [
        Typed(own, entry) if (own := key if key.strip() else name.strip()) else Typed(_free(entry, taken), entry, True)
        for key, entry in found
    ]


def of_json(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Read JSON, which may have comments: the servers with their names there, which may be empty. Raises `NotRead`."""
    try:
        value = jsonc.decode(text)
    except BadConfiguration as error:
        raise NotRead(f"this is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NotRead(f"a server is a JSON object, such as {_OBJECT}")
    members = cast("dict[str, Any]", value)
    is_whole = any(_object(members.get(each)) for each in KEYS)
    if not is_whole and any(not isinstance(members.get(each, {}), dict) for each in _MARKS):
        return [("", members)]
    servers = _servers_in(members)
    if len(servers) > MAX_SERVERS:
        raise NotRead(f"it names {len(servers)} servers", f"{MAX_SERVERS} are read at once")
    for name, entry in servers.items():
        if not isinstance(entry, dict):
            raise NotRead(f"{one_line(name)[:MAX_NAME]!r} is not a server", f"one is an object such as {_OBJECT}")
    return list(servers.items())


def _servers_in(members: dict[str, Any]) -> dict[str, Any]:
    """Find the object that has servers by their names: in one of the members for that, or this one."""
    holders = [each[key] for each in (members, _object(members.get("mcp"))) for key in KEYS if _object(each.get(key))]
    if holders:
        return {name: entry for each in reversed(holders) for name, entry in each.items()}
    if any(set(_MARKS) & set(_object(each)) for each in members.values()):
        return members
    there = "" if set(KEYS) & set(members) else f": {entry_of('typed', members).problem}"
    raise NotRead(f"it names no server{there}", f"one is an object such as {_OBJECT}")


def is_url(word: str) -> bool:
    """Tell whether a word is the address of a server, and not a command."""
    return _URL.match(word) is not None


def at_url(words: Sequence[str], env: Mapping[str, str], headers: Sequence[str], kind: str = "http") -> dict[str, Any]:
    """Make the entry of an address: it is the only word. Raises `NotRead`."""
    if env or len(words) > 1:
        raise NotRead("a URL has no environment and no arguments", f"{_HEADER} sends what it needs")
    sent = dict(map(_header, headers))
    return {"type": kind, "url": words[0], **({"headers": sent} if sent else {})}


def started(words: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    """Make the entry of a command."""
    rest = {"args": list(words[1:])} if words[1:] else {}
    return {"command": words[0], **rest, **({"env": dict(env)} if env else {})}


def _of_line(text: str) -> dict[str, Any]:
    """Read an address, or a command."""
    words = [text] if is_url(text) and len(text.split()) == 1 else _words(text)
    env: dict[str, str] = {}
    while words and _ASSIGNED.match(words[0]):
        name, _, env[name] = words.pop(0).partition("=")
    if not words:
        raise NotRead(f"write a command{' behind the variables' if env else ', an address or JSON'}")
    return at_url(*_headed(words, env)) if is_url(words[0]) else started(words, env)


def _headed(words: list[str], env: dict[str, str]) -> tuple[list[str], dict[str, str], list[str]]:
    """Take the headers out of the words of an address."""
    headers: list[str] = []
    rest: list[str] = []
    left = iter(words)
    for word in left:
        if word in ("-H", "--header"):
            headers.append(next(left, ""))
        elif word.startswith("--header="):
            headers.append(word.removeprefix("--header="))
        else:
            rest.append(word)
    return rest, env, headers


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise NotRead(f"the header {one_line(text)[:MAX_NAME]!r} is not of the form 'Name: value'")
    return name.strip(), value.strip()


def _words(text: str) -> list[str]:
    """Part a command line. A backslash escapes as in a shell, unless one of them can only be of a path of Windows."""
    if len(text) > MAX_COMMAND:
        raise NotRead(
            f"this command has {len(text):,} characters", f"{MAX_COMMAND:,} is the most; start a script by it"
        )
    is_windows = _PATH.search(text) or any(found[1] for found in _WITHIN.finditer(text))
    lexer = shlex.shlex(text if is_windows else _CONTINUED.sub(" ", text), posix=True)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = _BLANKS, True, ""
    if is_windows:
        lexer.escape = ""
    try:
        return list(lexer)
    except ValueError as error:
        raise NotRead("a quotation mark is not closed") from error


# Names.


def _free(entry: Mapping[str, Any], taken: Collection[str]) -> str:
    """Propose a name that is not taken."""
    name = _proposed(entry)
    if not name or name not in taken:
        return name
    return next(each for number in count(2) if (each := f"{name}-{number}") not in taken)


def _proposed(entry: Mapping[str, Any]) -> str:
    """Name a server after what it says itself, the host of its address, or the program that a runner runs."""
    own, url = entry.get("name"), next((entry[each] for each in URLS if each in entry), None)
    if isinstance(own, str) and own.strip():
        name = own
    elif isinstance(url, str):
        found = _HOST.match(url)
        name = found[1] if found else ""
    else:
        name = _AROUND.sub("", _AROUND.sub("", _program(_texts([entry.get("command")]) + _texts(entry.get("args")))))
    name = re.sub(r"[^\w.@+-]+", "-", name).strip("-.")[: MAX_NAME - 10]
    return "" if unseen(name) else name


def _program(words: list[str]) -> str:
    """Find what is run: the first word that is neither an option nor a runner, without its folders and its version."""
    bare = [_ENDS.sub("", re.split(r"[\\/]", each.rstrip("\\/"))[-1]) for each in words]
    for at, each in enumerate(bare):
        is_option = words[at].startswith("-") or words[at] == "/c" or (at > 0 and words[at - 1] in _TAKING)
        if each and not is_option and not _RUNNERS.fullmatch(each):
            return each
    return bare[0] if bare else ""


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    listed = cast("list[object]", value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]
