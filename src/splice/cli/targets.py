"""TARGET: which server a command talks to.

    http://..., https://...           a URL
    server.py, server.py:name         a Splice server in a file, or a function there that makes it
    package.module:name               the same in a module
    mcp.json, mcp.json#name           an entry of the configuration file of a host
    -- command arguments...           any program, at the end of the command line

A program started from here sees the whole environment, as it would if its command had been typed at the prompt.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast
from urllib.parse import urlsplit

from splice import HTTPServer, StdioServer
from splice.cli.loading import is_code, split
from splice.cli.logins import KeptLogin
from splice.cli.outcomes import USAGE, Stop
from splice.cli.stderr import Stderr
from splice.host.text import one_line

Place: TypeAlias = HTTPServer | StdioServer

_URL_KEYS = ("url", "serverUrl", "httpUrl")
"""Under which of them hosts keep the URL of a server."""


class Target(NamedTuple):
    """A server to talk to."""

    name: str
    """What the user called it, for messages."""
    place: Place
    stderr: Stderr
    """What it writes there, if we start it."""


def take_target(
    words: tuple[str, ...], tail: list[str], headers: tuple[str, ...], *, debug: bool = False
) -> tuple[Target, list[str]]:
    """Find the target in a command line; what is left of `words` is for the command. Raises `Stop`."""
    stderr = Stderr(live=debug)
    if tail:
        _no_headers(headers)
        return Target(one_line(shlex.join(tail)), StdioServer(*tail, env=os.environ, on_stderr=stderr), stderr), list(
            words
        )
    if not words:
        raise Stop(USAGE, "which server? Name a URL, a .py file, or a command after `--`")
    first, *rest = words
    name = one_line(first)
    if first.startswith(("http://", "https://")):
        return Target(name, _configured({"url": first}, first, headers, stderr), stderr), rest
    file, hash_sign, entry = first.partition("#")
    if file.endswith(".json"):
        found = _entry(file, entry if hash_sign else None)
        return Target(name, _configured(found, first, headers, stderr), stderr), rest
    if is_code(first):
        _no_headers(headers)
        place = split(first)[0]
        if place.endswith(".py") and not Path(place).is_file():
            raise Stop(USAGE, f"there is no file {place!r}")
        command = this_splice("run", first, *(["--debug"] if debug else []))
        child = StdioServer(*command, env=os.environ, on_stderr=stderr)
        child.name = name
        return Target(name, child, stderr), rest
    raise Stop(
        USAGE,
        f"{first!r} is not a server: name a URL (http://...), a .py file, module:name, an mcp.json, "
        "or a command after `--`",
    )


def this_splice(*words: str) -> list[str]:
    """Make the command line that runs `splice` with this very interpreter."""
    return [sys.executable, "-m", "splice.cli", *words]


def _entry(file: str, name: str | None) -> Mapping[str, Any]:
    """Read an entry of a configuration file: the one of that name, or the only one. Raises `Stop`."""
    try:
        found: Any = json.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as error:
        raise Stop(USAGE, f"cannot read {file!r}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Stop(USAGE, f"{file} is not JSON: {error}") from error
    members = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    listed = members.get("mcpServers") or members.get("servers")
    if not isinstance(listed, dict) or not listed:
        raise Stop(USAGE, f"{file} has no servers: it needs an object `mcpServers`, or `servers`")
    servers = cast("dict[str, Any]", listed)
    names = ", ".join(map(one_line, servers))
    if name is None and len(servers) > 1:
        raise Stop(
            USAGE, f"{file} has several servers: {names}; say which, as in {file}#{one_line(next(iter(servers)))}"
        )
    entry = servers.get(next(iter(servers)) if name is None else name)
    if not isinstance(entry, dict):
        raise Stop(USAGE, f"{file} has no server {name!r}; there are {names}")
    return cast("dict[str, Any]", entry)


def _configured(entry: Mapping[str, Any], name: str, headers: tuple[str, ...], stderr: Stderr) -> Place:
    """Make the place that an entry describes; `headers` go before those that stand in it. Raises `Stop`."""
    try:
        if "command" in entry:
            _no_headers(headers)
            environment = {**os.environ, **_texts(entry.get("env"))}
            words, cwd = [entry["command"], *_listed(entry.get("args"))], entry.get("cwd")
            child = StdioServer(
                *map(_text, words), env=environment, cwd=None if cwd is None else _text(cwd), on_stderr=stderr
            )
            child.name = one_line(name)
            return child
        url = next(_text(entry[key]) for key in _URL_KEYS if key in entry)
        fields = {**_texts(entry.get("headers")), **dict(_header(each) for each in headers)}
        own = any(field.lower() == "authorization" for field in fields) or "@" in urlsplit(url).netloc
        return HTTPServer(url, headers=fields, auth=None if own else KeptLogin(name))
    except StopIteration:
        raise Stop(USAGE, f"{name} has neither `command` nor `url`") from None
    except (TypeError, ValueError) as error:
        raise Stop(USAGE, f"{name}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{json.dumps(value)} should be text")
    return value


def _listed(value: Any) -> list[str]:
    if value is not None and not isinstance(value, list):
        raise TypeError(f"{json.dumps(value)} should be a list of texts")
    return cast("list[str]", value or [])


def _texts(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"{json.dumps(value)} should be an object of texts")
    return {name: _text(each) for name, each in cast("dict[str, Any]", value).items()}


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Stop(USAGE, f"--header {text!r} is not of the form 'Name: value'")
    return name.strip(), value.strip()


def _no_headers(headers: tuple[str, ...]) -> None:
    if headers:
        raise Stop(USAGE, "--header is for URLs; this server is started as a program")
