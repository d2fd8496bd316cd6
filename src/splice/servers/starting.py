"""How a reference server is started: its settings, where it listens, and its entry for a host's file.

A setting comes from its flag, or from the environment variable that `--help` names, or it is the default. The module
with the server itself is imported when it is to run, so that `--help` and a wrong setting are answered at once.
"""

import argparse
import os
import posixpath
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import msgspec

from splice import Server

FAILED, USAGE = 1, 2
"""The exit status of a server that could not start, and that of a wrong setting, as everywhere."""

_YES = {"1", "true", "yes", "on"}
_NO = {"0", "false", "no", "off"}
_HELP_WIDTH = 100
"""In characters. To ask for that of the terminal, as argparse does at the start, takes longer than its own import."""

_PASSWORD = re.compile(r"""(://[^/?#@:\s]*:)\S+(?=@)|(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)""", re.IGNORECASE)
"""In a URL, or in a connection string of words."""
_LISTENING = ("http", "host", "port", "path", "allowed_hosts")


class Setting(NamedTuple):
    """A setting, and how it is read from the environment."""

    action: argparse.Action
    names: tuple[str, ...]
    many: bool
    is_path: bool

    def read(self, text: str) -> Any:
        """Read what stands in the environment. Raises `ValueError`."""
        if self.action.nargs == 0:
            if text.lower() not in _YES | _NO:
                raise ValueError("it is 1 or 0")
            return text.lower() in _YES
        return [self._value(part) for part in text.split(os.pathsep) if part] if self.many else self._value(text)

    def _value(self, text: str) -> Any:
        convert: Callable[[str], Any] = self.action.type if callable(self.action.type) else str
        try:
            value = convert(text)
        except ValueError:
            raise ValueError(f"invalid {getattr(convert, '__name__', convert)} value") from None
        if self.action.choices is not None and value not in self.action.choices:
            raise ValueError(f"it is one of {', '.join(map(str, self.action.choices))}")
        return value

    def written(self, given: Any) -> list[str]:
        """Write what the command line gave, so that it means the same in another directory."""
        flag = list(self.action.option_strings[-1:])
        if self.action.nargs == 0:
            return flag
        values = [str(Path.cwd() / each) if self.is_path else str(each) for each in (given if self.many else [given])]
        return [word for value in values for word in ([f"{flag[0]}={value}"] if value[:1] == "-" else [*flag, value])]


class Command(argparse.ArgumentParser):
    """The command of one server. `make` names the function that makes it, as ``module:function``.

    `make` is called with the settings by name. It raises `ValueError` for one that is wrong.
    """

    def __init__(self, name: str, summary: str, make: str) -> None:
        super().__init__(
            prog=f"splice serve {name}",
            description=summary,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=partial(argparse.HelpFormatter, width=_HELP_WIDTH),
        )
        self.name = name
        self.summary = summary
        self._make = make
        self._settings: list[Setting] = []
        group = self.add_argument_group("how it is reached")
        group.add_argument("--http", action="store_true", help="serve HTTP instead of stdin and stdout")
        group.add_argument("--host", help="where to listen (127.0.0.1)")
        group.add_argument("--port", type=_port, help="0: any free one (8000)")
        group.add_argument("--path", type=_path, help="the MCP endpoint's path (/mcp)")
        group.add_argument(
            "--allowed-host",
            dest="allowed_hosts",
            action="append",
            metavar="NAME",
            help="a Host header to accept; needed beyond this machine; repeatable",
        )
        self.add_argument("--debug", action="store_true", help="show tracebacks")
        group.add_argument("--print-config", action="store_true", help="print the entry for a host's .mcp.json and end")

    def setting(self, *flags: str, env: Sequence[str] = (), is_path: bool = False, **options: Any) -> None:
        """Add a setting: the arguments of `add_argument`, and further names that it has in the environment.

        What `is_path` may begin with ~, as no shell reads a host's file; the entry for it has the path in full.

        ``--read-only`` of the server ``git`` is ``SPLICE_GIT_READ_ONLY`` there; a list is separated as in PATH.
        """
        words = (self.name, flags[-1].removeprefix("--"))
        names = ("_".join(("SPLICE", *words)).upper().replace("-", "_"), *env)
        options["help"] = f"{options['help']} [{', '.join(names)}]"
        if is_path:
            options["type"] = posixpath.expanduser
        many = options.get("action") == "append" or options.get("nargs") in {"*", "+"}
        self._settings.append(Setting(self.add_argument(*flags, **options), names, many, is_path))

    def main(self, words: Sequence[str] | None = None) -> int:
        """Run the server until its client leaves; return the exit status. Raises `SystemExit` for a wrong setting."""
        _fill_standard_handles()
        words = sys.argv[1:] if words is None else words
        parse = self.parse_args if "--" in words else self.parse_intermixed_args  # the latter cannot bear it
        given = vars(parse(words))
        listen = {name: given.pop(name) for name in _LISTENING if name in given}
        http = listen.pop("http", False)
        if listen and not http:
            self.error(f"--{next(iter(listen)).replace('_', '-').removesuffix('s')} needs --http")
        if given.pop("print_config", False):
            sys.stdout.write(self.entry(given, listen if http else None) + "\n")
            return 0
        debug = given.pop("debug", False)
        settings = {**self._environment(given), **given}
        if not http and sys.stdin.isatty():
            told = f"waits for a client on stdin. Try: splice list -- {self.prog} ... (Ctrl-C ends this)"
            sys.stderr.write(f"{self.name} {told}\n")
        try:
            self._made(settings).run("http" if http else "stdio", **listen)
        except (ValueError, OSError) as error:
            if debug:
                raise
            self._tell(error)
        return 0

    def error(self, message: str) -> NoReturn:
        """End with one line about what is wrong. Raises `SystemExit`."""
        self.exit(USAGE, f"{self.prog}: {message}; see --help\n")

    def entry(self, given: dict[str, Any], listen: dict[str, Any] | None) -> str:
        """Write the JSON that a host's configuration file wants, with the same settings; `listen` is for HTTP.

        A setting with a password stands in the entry's environment, without the password: other users of the machine
        see command lines.
        """
        entry: dict[str, Any]
        if listen is None:
            found = [(each, given[each.action.dest]) for each in self._settings if each.action.dest in given]
            texts = [(each.names[0], value) for each, value in found if isinstance(value, str)]
            secret = {name: _PASSWORD.sub(_hidden, text) for name, text in texts if _PASSWORD.search(text)}
            words = [word for each, value in found if each.names[0] not in secret for word in each.written(value)]
            words += ["--debug"] if given.get("debug") else []
            module = f"splice.servers.{self.name.replace('-', '_')}"
            entry = {"command": sys.executable, "args": ["-m", module, *words]} | ({"env": secret} if secret else {})
        else:
            host, port, path = listen.get("host", "127.0.0.1"), listen.get("port", 8000), listen.get("path", "/mcp")
            if port == 0:
                self.error("--print-config needs a --port that stays the same")
            host = next(iter(listen.get("allowed_hosts", [f"[{host}]" if ":" in host else host])))
            entry = {"type": "http", "url": f"http://{host}:{port}{path}"}
        return msgspec.json.format(msgspec.json.encode({"mcpServers": {self.name: entry}}), indent=2).decode()

    def _environment(self, given: dict[str, Any]) -> dict[str, Any]:
        """Read the settings that were not given by a flag and stand in the environment; an empty one says nothing."""
        asked = [each for each in self._settings if each.action.dest not in given]
        found = [(each, name) for each in asked for name in each.names[::-1] if os.environ.get(name)]
        first = {each.action.dest: (each, name) for each, name in found}
        return {dest: self._read(setting, name) for dest, (setting, name) in first.items()}

    def _read(self, setting: Setting, name: str) -> Any:
        text = os.environ[name]
        try:
            return setting.read(text)
        except (ValueError, argparse.ArgumentTypeError) as error:
            self.error(f"{name} is {text!r}: {error}")

    def _made(self, settings: dict[str, Any]) -> Server:
        module, _, function = self._make.partition(":")
        try:
            server: Server = getattr(import_module(module), function)(**settings)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "splice":
                raise
            self.exit(FAILED, f"{self.prog} needs {error.name}: pip install 'splice[{self.name}]'\n")
        return server

    def _tell(self, error: ValueError | OSError) -> NoReturn:
        if isinstance(error, OSError):
            self.exit(FAILED, f"{self.prog}: {error.strerror or error}\n")
        self.error(str(error))


def _fill_standard_handles() -> None:
    """Open what the host closed of stdin, stdout and stderr: else the next file or socket would pass for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a number up to 65535, not {text!r}")
    return int(text)


def _path(text: str) -> str:
    if not text.startswith("/"):
        raise argparse.ArgumentTypeError(f"a path with its slash, such as /mcp, not {text!r}")
    return text


def _hidden(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]}PASSWORD"
