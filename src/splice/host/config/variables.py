"""Variables in an entry: expanded exactly once, when its server is started. What comes out is never shown or kept.

${VAR}, ${env:VAR}                 of the environment; one that is not set fails this server, by its name
${VAR:-otherwise}                  likewise, with a value for when it is not set, or empty
${input:ID}                        asked for, see `inputs`
${workspaceFolder}, ${workspaceFolderBasename}, ${userHome}, ${pathSeparator}, ${/}
$${                                a `${` that is none
"""

import os
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from splice.host.config.entries import Entry, LoginFacts
from splice.host.config.jsonc import BadConfiguration, text_of
from splice.host.places import at_home
from splice.host.secrecy import is_secret_setting
from splice.host.text import one_line

Ask = Callable[[Entry, str], Awaitable[str]]
"""Returns the value of an input of an entry. Raises `BadConfiguration`."""

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_ENVIRONMENT = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(.*)")
_PASSWORD = re.compile(r"\w://[^/?#@:\s]*:([^/?#@\s]+)@")
_INPUT = "input:"
MIN_SECRET = 8
"""What is shorter is not hidden: it would make holes into every text."""


async def expanded(entry: Entry, ask: Ask | None = None) -> Entry:
    """Ask for the inputs of an entry, and expand all its variables. Raises `BadConfiguration`."""
    return filled(entry, {} if ask is None else {id: await ask(entry, id) for id in inputs_of(entry)})


def filled(entry: Entry, inputs: Mapping[str, str], environ: Mapping[str, str] | None = None) -> Entry:
    """Expand all variables of an entry, and read its `envFile`. Raises `BadConfiguration`."""
    known = _facts(entry) | {_INPUT + id: value for id, value in inputs.items()}
    variables = os.environ if environ is None else environ

    def fill(text: str) -> str:
        return _REFERENCE.sub(lambda found: _value(found, known, variables), text)

    def fill_all(texts: Mapping[str, str]) -> dict[str, str]:
        return {name: fill(text) for name, text in texts.items()}

    made = replace(
        entry,
        command=fill(entry.command),
        args=tuple(map(fill, entry.args)),
        env={**_env_file(entry, fill(entry.env_file)), **fill_all(entry.env)},
        env_file="",
        cwd=fill(entry.cwd),
        url=fill(entry.url),
        headers=fill_all(entry.headers),
        login=_login(entry.login, fill),
    )
    if made.url and not made.url.lower().startswith(("http://", "https://")):
        raise BadConfiguration("its URL is neither http nor https")
    return made


def secrets_in(entry: Entry, made: Entry) -> list[str]:
    """List what looks like secrets among the values that `filled` put into an entry, so that nobody is shown them."""
    texts = zip((entry.url, entry.command, *entry.args), (made.url, made.command, *made.args), strict=True)
    pairs = [*texts, (entry.login.client_secret, made.login.client_secret)]
    named = [*_named_in(made.url), ("secret", made.login.client_secret)]
    for before, after in ((entry.env, made.env), (entry.headers, made.headers)):
        pairs += [(before.get(name, ""), value) for name, value in after.items()]
        named += after.items()
    named += [each for template, value in pairs for each in _taken(template, value)]
    named += [("password", found[1]) for _, value in pairs for found in _PASSWORD.finditer(value)]
    words = {word for name, value in named if is_secret_setting(name) for word in value.split()}
    return sorted((word for word in words if len(word) >= MIN_SECRET), key=len, reverse=True)


def _taken(template: str, value: str) -> Iterable[tuple[str, str]]:
    """Yield the variables of a template, each with what it became in a value that was made of it."""
    first, *rest = _REFERENCE.split(template)
    at, left = len(first), len(rest) // 2
    for name, literal in zip(rest[::2], rest[1::2], strict=True):
        left -= 1
        end = max(value.find(literal, at), at) if left else len(value) - len(literal)
        yield name or "", value[at:end]
        at = end + len(literal)


def _named_in(url: str) -> Iterable[tuple[str, str]]:
    """Yield what a URL has by names: its password, and its query."""
    parts = urlsplit(url)
    yield "password", parts.netloc.rpartition("@")[0].partition(":")[2]
    for each in parts.query.split("&"):
        name, _, value = each.partition("=")
        yield name, value


def missing(entry: Entry, environ: Mapping[str, str] | None = None) -> list[str]:
    """Name the variables of the environment that an entry needs and that are not set."""
    variables = os.environ if environ is None else environ
    names: list[str] = []
    for inside in _references(entry):
        found = _ENVIRONMENT.fullmatch(inside)
        if found and found[2] is None and found[1] not in _facts(entry) and found[1] not in variables:
            names.append(found[1])
    return list(dict.fromkeys(names))


def _facts(entry: Entry) -> dict[str, str]:
    folder = str(entry.folder or Path.cwd())
    return {
        "workspaceFolder": folder,
        "workspaceFolderBasename": Path(folder).name,
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
        "/": os.sep,
    }


def _references(entry: Entry) -> list[str]:
    login = (entry.login.client_id, entry.login.client_secret)
    texts = [*entry.words, entry.cwd, entry.env_file, *entry.env.values(), *entry.headers.values(), *login]
    return [found[1] for text in texts for found in _REFERENCE.finditer(text) if found[1] is not None]


def inputs_of(entry: Entry) -> list[str]:
    """Name the inputs that an entry takes."""
    found = (inside.removeprefix(_INPUT) for inside in _references(entry) if inside.startswith(_INPUT))
    return list(dict.fromkeys(found))


def _value(found: re.Match[str], known: Mapping[str, str], variables: Mapping[str, str]) -> str:
    inside = found[1]
    if inside is None:
        return "${"
    if inside in known:
        return known[inside]
    if inside.startswith(_INPUT):
        id = one_line(inside.removeprefix(_INPUT))
        raise BadConfiguration(f"it needs a value for the input {id!r}, and nobody can be asked here")
    wanted = _ENVIRONMENT.fullmatch(inside)
    if wanted is None or "${" in inside:
        raise BadConfiguration(f"${{{one_line(inside)}}} is not a variable that can be expanded")
    value = variables.get(wanted[1])
    if wanted[2] is not None:
        return value or wanted[2]
    if value is None:
        told = f"the variable {wanted[1]} is not set: set it and start again, or write ${{{wanted[1]}:-otherwise}}"
        raise BadConfiguration(told)
    return value


def _login(login: LoginFacts, fill: Callable[[str], str]) -> LoginFacts:
    return replace(login, client_id=fill(login.client_id), client_secret=fill(login.client_secret))


def _env_file(entry: Entry, name: str) -> dict[str, str]:
    """Read a file of `NAME=value` lines. Raises `BadConfiguration`."""
    if not name:
        return {}
    path = (entry.folder or Path.cwd()) / at_home(name)
    try:
        lines = text_of(path).split("\n")
    except BadConfiguration as error:
        raise BadConfiguration(f"its envFile {path}: {error}") from error
    found = (_LINE.fullmatch(line.strip()) for line in lines)
    return {match[1]: _unquoted(match[2]) for match in found if match is not None}


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        inside = text[1:-1]
        return inside.replace("\\n", "\n").replace('\\"', '"') if text[0] == '"' else inside
    return re.sub(r"(?<!\s)\s+#.*", "", text)
