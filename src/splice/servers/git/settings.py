"""The settings that git runs with: our own, and of the repository's those that start nothing and lead nowhere.

A repository's own configuration can name programs: hooks, filters, text converters, a monitor of files, transports, an
editor, a signer. It is therefore never shown to a run that works. What is known to be harmless is copied from it; keys
that nobody here has heard of are not.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from splice import ToolError
from splice.servers.git.scope import CONTROL

FIXED = (
    ("core.bare", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.quotePath", "false"),
    ("core.pager", "cat"),
    ("core.editor", ":"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("commit.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("rerere.enabled", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("submodule.recurse", "false"),
    ("checkout.workers", "1"),
    ("advice.detachedHead", "false"),
    ("user.useConfigOnly", "true"),
)
"""Ours. They stand last, and so win."""

COPIED = re.compile(
    r"core\.(repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|safecrlf"
    r"|sharedrepository|sparsecheckout|sparsecheckoutcone|protecthfs|protectntfs|trustctime|checkstat)"
    r"|(user|author|committer)\.(name|email)"
    r"|branch\..+\.(remote|merge)|remote\..+\.fetch",
    re.DOTALL,
)
"""Keys of switches, of names of people, and of names of references, by which status knows the upstream branch."""

OWN_EXTENSIONS = {"extensions.objectformat", "extensions.refstorage"}
"""Formats of the repository, which git has to know."""

IGNORED_EXTENSIONS = {f"extensions.{name}" for name in ("noop", "partialclone", "preciousobjects", "worktreeconfig")}
"""Extensions that need not be known for what is done here."""


class Entry(NamedTuple):
    """A setting, and whose it is: system, global, local or worktree."""

    scope: str
    key: str
    value: str


def entries(listed: str) -> Iterator[Entry]:
    """Read what `git config --list --show-scope -z` printed."""
    parts = listed.split("\0")
    for scope, line in zip(parts[::2], parts[1::2], strict=False):
        key, newline, value = line.partition("\n")
        yield Entry(scope, key, value if newline else "true")


def copied(found: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    """Choose what is taken over. Raises `ToolError` for a format of repository that git would have to know about."""
    for scope, key, value in found:
        if CONTROL.search(key + value):
            continue
        if COPIED.fullmatch(key):
            yield key, value
        elif key in ("core.excludesfile", "core.attributesfile") and scope in ("system", "global"):
            yield key, posixpath.expanduser(value)  # as it is where there is no such user
        elif key.startswith("extensions.") and key not in IGNORED_EXTENSIONS:
            if key not in OWN_EXTENSIONS:
                raise ToolError(f"The repository uses {key!r}, which this server does not know. Use git itself.")
            yield key, value


def written(settings: Iterable[tuple[str, str]]) -> str:
    """Write a configuration file."""
    lines: list[str] = []
    for key, value in settings:
        section, _, rest = key.partition(".")
        sub, _, name = rest.rpartition(".")
        title = f'[{section} "{_escaped(sub)}"]' if sub else f"[{section}]"
        lines.append(f'{title}\n\t{name} = "{_escaped(value)}"\n')
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
