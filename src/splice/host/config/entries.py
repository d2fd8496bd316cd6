"""An entry: one server as it is configured, and all that a person should see before it is started.

Variables in it are not expanded: what is shown, compared and kept holds `${API_KEY}`, never the key.
"""

import hashlib
import re
import shlex
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from splice.host.places import at_home
from splice.host.secrecy import is_secret_setting
from splice.host.text import one_line
from splice.schema.schemas import cut

Scope: TypeAlias = Literal["project", "user", "given"]
"""``project``: from a file that came with a folder, so a stranger may have written it. ``user``: from a file of the
user's. ``given``: named on the command line, or by a program."""

Transport: TypeAlias = Literal["stdio", "http", "sse", "memory"]

_VARIABLE = re.compile(r"(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)(?::-[^}]*)?\}|(?<!\$)\$\{(input:[^}]*)\}")
_PASSWORD = re.compile(r"^(\w+://[^/?#@:]*:)(?!\$\{)[^/?#@]*@")
_QUERY = re.compile(r"([?&])([^=&#]*)=(?!\$\{)([^&#]+)")
"""What a URL has by names, unless it is a variable."""

MAX_VALUE = 200

_SPECIAL = {"workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"}


class SamplingLimits(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a server may let a model do. Zero and nothing mean: the host's own limits."""

    models: tuple[str, ...] = ()
    max_tokens: int = 0
    per_minute: int = 0


class ToolFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """Which tools are wanted, by patterns such as `get_*`."""

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


class Options(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The block `x-splice` of an entry."""

    protocol: Literal["auto", "modern", "legacy"] = "auto"
    roots: tuple[str, ...] | None = None
    """Folders it is told of, instead of those that all servers are told of."""
    sampling: SamplingLimits | bool = True
    """False: it is told that there is no model."""
    elicitation: Literal["url", "form", "off"] = "url"
    """``url``: by forms and by addresses to visit."""
    tools: ToolFilter = ToolFilter()
    timeout: float = 60.0
    """Seconds for its start, and for each request."""
    startup: Literal["lazy", "eager"] = "lazy"
    log_level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] = "info"
    trust_annotations: bool = False
    """Believe what it says of its tools. Never taken from a project's file."""


class LoginFacts(Struct, frozen=True):
    """What the entry says for logging in with OAuth."""

    client_id: str = ""
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    port: int = 0
    """Where the browser comes back to; 0: any."""


class Entry(Struct, frozen=True, kw_only=True):
    """One server, as configured."""

    name: str
    """What the host calls it. A slash of the file's key is a dot here, since ids have slashes of their own."""
    key: str = ""
    """What the file calls it."""
    scope: Scope = "given"
    source: Path | None = None
    """The file that names it."""
    folder: Path | None = None
    """The folder that it works in unless `cwd` says otherwise; of a project, that of the project."""
    is_local: bool = False
    """It is the user's own for this one folder, and goes before the project's."""
    transport: Transport = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    env_file: str = ""
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    login: LoginFacts = LoginFacts()
    disabled: bool = False
    options: Options = Options()
    problem: str = ""
    """Why it cannot be used; the others can."""
    is_noticed: bool = False
    """It was found in a file while the host ran, and nobody asked for that: a program may have written it."""
    ignored: tuple[str, ...] = ()
    """What its file wants and the host does not do."""

    @property
    def runs(self) -> str:
        """The exact command line, or the URL."""
        return self.words[0] if self.url else shlex.join(self.words)

    @property
    def words(self) -> list[str]:
        """The command word by word, or the URL alone, without the passwords and keys that stand in it."""
        if self.url:
            return [_masked(self.url)]
        return [self.command, *self.args] if self.command else []

    @property
    def variables(self) -> list[str]:
        """What it gets in its environment, or as headers, and where else it takes secrets of the user's.

        Values are named too, since some make a program run others; but not where a name speaks of a secret.
        """
        told = [_named(name, value) for name, value in sorted({**self.env, **self.headers}.items())]
        if self.env_file:
            told.append(f"all of {one_line(self.env_file)}")
        hidden = {"its URL": self.url, "its login": f"{self.login.client_id} {self.login.client_secret}"}
        return told + [_named(name, text) for name, text in hidden.items() if variables_in(text)]

    @property
    def works_in(self) -> str:
        """The folder that it is started in."""
        return str((self.folder or Path()) / at_home(self.cwd or "."))

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that decides what is run, or where to it is sent what."""
        shown: list[Any] = [
            self.url or self.words,
            self.cwd,
            sorted(self.env.items()),
            self.env_file,
            sorted(self.headers.items()),
            *([self.login] if self.login != LoginFacts() else []),
        ]
        return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()

    @property
    def needs_trust(self) -> bool:
        """A stranger may have written it."""
        return self.scope == "project" or self.is_noticed


def variables_in(text: str) -> list[str]:
    """Name the variables of the user's environment, and the inputs, that a text takes; each once."""
    found = (match[1] or match[2] for match in _VARIABLE.finditer(text))
    return list(dict.fromkeys(name for name in found if name not in _SPECIAL))


def _named(name: str, value: str) -> str:
    if taken := variables_in(value):
        return one_line(f"{name} (from {', '.join(taken)})")
    return one_line(name if is_secret_setting(name) else f"{name}={cut(_masked(value), MAX_VALUE)}")


def _masked(text: str) -> str:
    return _QUERY.sub(_hidden, _PASSWORD.sub(r"\1***@", text))


def _hidden(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}=***" if is_secret_setting(found[2]) else found[0]
