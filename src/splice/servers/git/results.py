"""What git printed, as results: the text that a model reads, and the same as structure.

https://git-scm.com/docs/git-status#_porcelain_format_version_2
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from splice.servers.git.running import Ran

ENTRIES = 1_000
"""How many paths or branches a structured result lists; the text has a limit of its own."""

LOG_FORMAT = "--format=%H%x00%an%x00%ae%x00%ad%x00%B"
LOG_FIELDS = 5
KINDS = {"M": "modified", "T": "type changed", "A": "added", "D": "deleted", "R": "renamed", "C": "copied"}
LINES = re.compile(r"[^\n]*\n|[^\n]+")
"""Lines as git means them: for Python a form feed in a file would end one too."""

PLAIN_HEADERS = ("diff --git ", "index ", "new file mode ", "deleted file mode ")


@dataclass
class Change:
    """A path that was changed, and how."""

    path: str
    change: str
    renamed_from: str | None = None


@dataclass
class Status:
    """The state of the working tree. Lists have at most 1,000 entries; `more` says that some were left out."""

    branch: Annotated[str | None, Meta(description="null: HEAD is detached")] = None
    commit: Annotated[str | None, Meta(description="null: there is no commit yet")] = None
    upstream: str | None = None
    ahead: int = 0
    behind: int = 0
    staged: list[Change] = field(default_factory=list[Change])
    unstaged: list[Change] = field(default_factory=list[Change])
    untracked: list[str] = field(default_factory=list[str])
    conflicted: list[str] = field(default_factory=list[str])
    more: bool = False


@dataclass
class Commit:
    """A commit; the date is the author's, in ISO 8601."""

    hash: str
    author: str
    email: str
    date: str
    message: str


@dataclass
class Log:
    """Commits, newest first. `more` says that the output was cut."""

    commits: list[Commit]
    more: bool


@dataclass
class Branch:
    """A branch; `target` is what a symbolic reference such as origin/HEAD stands for."""

    name: str
    kind: Literal["local", "remote"]
    current: bool
    target: str | None = None


@dataclass
class Branches:
    """Branches. `current` is null if HEAD is detached or was not asked for; `more` says that some were left out."""

    current: str | None
    branches: list[Branch]
    more: bool


def shown(ran: Ran, remedy: str) -> str:
    """Give an output as text; of one that was cut, its whole lines and what to do about it."""
    if not ran.cut:
        return ran.text
    text = ran.out[: ran.out.rfind(b"\n") + 1] or ran.out
    return f"{text.decode(errors='replace')}[Cut after {len(text):,} bytes. {remedy}]"


def status_of(ran: Ran) -> Status:
    """Read `git status --porcelain=v2 --branch -z`."""
    status = Status(more=ran.cut)
    parts = iter(ran.text.split("\0")[:-1])
    for part in parts:
        kind, _, rest = part.partition(" ")
        if kind == "#":
            _head(status, *rest.split(" ", 1))
        elif kind == "?":
            status.untracked.append(rest)
        elif kind == "u":
            status.conflicted.append(rest.split(" ", 9)[-1])
        elif kind in ("1", "2"):
            words = rest.split(" ", 7 if kind == "1" else 8)
            old = next(parts, None) if kind == "2" else None
            for letter, changes in zip(words[0], (status.staged, status.unstaged), strict=True):
                if letter != ".":
                    changes.append(Change(words[-1], KINDS.get(letter, letter), old if letter in "RC" else None))
    for listed in (status.staged, status.unstaged, status.untracked, status.conflicted):
        status.more |= len(listed) > ENTRIES
        del listed[ENTRIES:]
    return status


def _head(status: Status, name: str, value: str) -> None:
    match name:
        case "branch.oid":
            status.commit = None if value == "(initial)" else value
        case "branch.head":
            status.branch = None if value == "(detached)" else value
        case "branch.upstream":
            status.upstream = value
        case "branch.ab":
            ahead, behind = value.split(" ")
            status.ahead, status.behind = int(ahead), -int(behind)
        case _:
            pass


def commits_of(ran: Ran) -> Iterator[Commit]:
    """Read `git log -z` in `LOG_FORMAT`. A commit that was cut is left out."""
    fields = ran.text.split("\0")
    whole = len(fields) - 1 if ran.cut else len(fields)  # the last field of what was cut may lack its end
    for start in range(0, whole - LOG_FIELDS + 1, LOG_FIELDS):
        id, author, email, date, message = fields[start : start + LOG_FIELDS]
        yield Commit(id, author, email, date.replace("Z", "+00:00"), message)


def branches_of(ran: Ran, kind: str) -> Branches:
    """Read what `git branch` printed for branches of a kind."""
    found = Branches(None, [], more=ran.cut)
    for line in ran.text.split("\n")[:-1]:
        mark, name = line[:1], line[2:]
        if name.startswith("("):  # detached: a sentence, not a branch
            continue
        name, _, target = name.partition(" -> ")
        is_remote = kind == "remote" or name.startswith("remotes/")
        if mark == "*":
            found.current = name
        name = name.removeprefix("remotes/") if kind == "all" else name
        found.branches.append(Branch(name, "remote" if is_remote else "local", mark == "*", target or None))
    found.more |= len(found.branches) > ENTRIES
    del found.branches[ENTRIES:]
    return found


def log_text(commits: list[Commit]) -> str:
    """Write commits as the original of this server did."""
    return "\n".join(
        f"Commit: {each.hash}\nAuthor: {each.author}\nDate: {each.date.replace('T', ' ')}\nMessage: {each.message}\n"
        for each in commits
    )


def commit_text(head: str, patch: str) -> str:
    """Write a commit, as printed by `git log` in `LOG_FORMAT`, and its patch."""
    id, author, email, date, message = head.removesuffix("\n").split("\0")
    body = "".join(f"    {line}\n" if line else "\n" for line in message.rstrip("\n").split("\n"))
    return f"commit {id}\nAuthor: {author} <{email}>\nDate:   {date}\n\n{body}\n{_patch(patch)}"


def _patch(text: str) -> str:
    """Leave out the headers of files that tell no more than the lines --- and +++ below them."""
    kept: list[str] = []
    header: list[str] = []
    for line in LINES.findall(text):
        if line.startswith("diff --git "):
            kept += header
            header = [line]
        elif header and line.startswith("--- "):
            kept += [] if all(each.startswith(PLAIN_HEADERS) for each in header) else header
            kept.append(line)
            header = []
        elif header:
            header.append(line)
        else:
            kept.append(line)
    return "".join(kept + header)
