"""The user's rules: what may be called without asking, what is asked always, what never happens.

A rule has an effect and names what it is about:

    travel/bookTrip     a tool            travel/*           all tools of a server
    reads travel        its tools that say they only read
    sampling travel     its requests to a model, in a call    sampling outside travel    those while no call of it runs

Names in it are percent-encoded, so that no tool's name can be read as a pattern. Only a denial may have `*` elsewhere:
`*/delete*`. Rules for a chat are in memory. Those for always are in a file of the user's, never of a project, which
several processes may have open.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote

from msgspec.structs import replace

from splice.host.asking.rulefile import Kept, RuleFile
from splice.host.board import Board
from splice.host.items import Notice, Rule
from splice.host.text import listed

Effect: TypeAlias = Literal["allow", "ask", "deny"]

LOOK_SECONDS = 1.0
"""How often to look whether another process made or revoked a rule."""

MAX_REVOKED = 100
"""How many revoked rules can be restored."""

_KINDS = ("", "reads", "sampling", "sampling outside")
"""What stands before a server in a rule that is not about its tools."""

CHANGED = "the definition changed"
OTHER = "the server was configured otherwise when this was allowed"


def tool_of(server: str, name: str) -> str:
    """Write what a rule about a tool names."""
    return f"{_encoded(server)}/{_encoded(name)}"


def server_of(server: str) -> str:
    """Write what a rule about all tools of a server names."""
    return f"{_encoded(server)}/*"


def sampling_of(server: str, *, is_outside: bool = False) -> str:
    """Write what a rule about a server's requests to a model names: those in its calls, or those outside of any."""
    return f"{'sampling outside' if is_outside else 'sampling'} {_encoded(server)}"


def reads_of(server: str) -> str:
    """Write what a rule about those tools of a server names that say they only read."""
    return f"reads {_encoded(server)}"


class Permissions:
    """The rules, on the board as they are. All of it is fast; `flush` and what changes a lasting rule write a file."""

    def __init__(
        self,
        board: Board,
        path: Path | None = None,
        *,
        identity: Callable[[str], str] = lambda _: "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Read the rules of the file, if a path is given.

        `identity` tells of a server's local name which server that is now. What was allowed for another one of the
        same name does not count.
        """
        self._board = board
        self._file = RuleFile(path) if path is not None else None
        self._identity = identity
        self._clock = clock
        self._chat: dict[str, Kept] = {}
        self._revoked: dict[str, Kept] = {}
        self._uses: dict[str, int] = {}
        self._voided: dict[str, float] = {}
        self._said = ""
        self.all()

    def all(self) -> list[Rule]:
        """List the rules as they are now, also those that another process made."""
        known = dict(self._chat)
        if self._file is not None:
            known.update((_key(each), each) for each in self._file.read())
            if self._file.problem != self._said:
                self._said = self._file.problem
                self._board.put(Notice(id="notice:permissions", text=self._file.problem, level="bad"))
        rules = [self._shown(key, each) for key, each in known.items()]
        for rule in rules:
            self._board.put(rule)
        for gone in {each.id for each in self._board.all(Rule)} - {each.id for each in rules}:
            self._board.drop(gone)
        return rules

    async def watch(self) -> None:
        """Show what other processes make and revoke, soon after they do. It does not end by itself."""
        while self._file is not None:
            await asyncio.sleep(LOOK_SECONDS)
            if self._file.is_changed:
                self.all()

    def grant(self, effect: Effect, what: str, *, chat: str | None = None) -> Rule:
        """Make a rule: for a chat, for all chats of this process if `chat` is empty, for always if it is None.

        Raises `ValueError` for a pattern that only a denial may have, and `OSError` if it cannot be written.
        """
        check(effect, what)
        server = server_in(what)
        rule = Kept(
            effect, what, self._after(what), identity=self._identity(server) if effect == "allow" else "", chat=chat
        )
        key = _key(rule)
        if chat is not None:
            self._chat[key] = rule
        elif self._file is None:
            raise ValueError("There is no file to keep a lasting rule in")
        else:
            self._file.change(lambda rules: [*(each for each in rules if _key(each) != key), rule])
        self._uses.pop(key, None)
        return self._found(key)

    def revoke(self, id: str) -> None:
        """Remove a rule. Raises `KeyError` if there is none, and `OSError` if that cannot be written."""
        key = id.removeprefix("rule:")
        rule = self._chat.pop(key, None)
        if rule is None:
            rule = next((each for each in self._lasting() if _key(each) == key), None)
            if rule is None or self._file is None:
                raise KeyError(id)
            self._file.change(lambda rules: [each for each in rules if _key(each) != key])
        self._revoked[key] = replace(rule, uses=rule.uses + self._uses.pop(key, 0))
        if len(self._revoked) > MAX_REVOKED:
            del self._revoked[next(iter(self._revoked))]
        self.all()

    def restore(self, id: str) -> Rule:
        """Put back a rule that was revoked since this process began. Raises `KeyError` and `OSError`."""
        key = id.removeprefix("rule:")
        rule = self._revoked.pop(key, None)
        if rule is None:
            raise KeyError(id)
        if rule.chat is not None:
            self._chat[key] = rule
        elif self._file is not None:
            self._file.change(lambda rules: [*(each for each in rules if _key(each) != key), rule])
        return self._found(key)

    def void(self, server: str, tool: str) -> None:
        """Take back every permission to call a tool, because its definition changed; what is allowed later counts.

        Raises `OSError`.
        """
        at, what = self._clock(), tool_of(server, tool)
        self._voided[what] = at
        if self._file is not None:
            self._file.void(what, at)
        self.all()

    def used(self, id: str) -> None:
        """Count a use of a rule. It is written with the next change, or by `flush`."""
        key = id.removeprefix("rule:")
        self._uses[key] = self._uses.get(key, 0) + 1
        rule = self._board.get(id, Rule)
        if rule is not None:
            self._board.put(replace(rule, uses=rule.uses + 1, used=self._clock()))

    def flush(self) -> None:
        """Write how often lasting rules were used. Raises `OSError`."""
        counted = {key: count for key, count in self._uses.items() if key not in self._chat}
        if counted and self._file is not None:
            self._uses = {key: count for key, count in self._uses.items() if key in self._chat}
            at = self._clock()
            self._file.change(
                lambda rules: [
                    replace(each, uses=each.uses + counted[_key(each)], used=at) if _key(each) in counted else each
                    for each in rules
                ]
            )

    def end_chat(self, chat: str) -> None:
        """Forget what was allowed in a chat."""
        self._chat = {key: rule for key, rule in self._chat.items() if rule.chat != chat}
        self.all()

    def voided(self, what: str) -> float:
        """Tell when the permissions for a tool were taken back last; 0: never."""
        kept = self._file.voided.get(what, 0.0) if self._file is not None else 0.0
        return max(kept, self._voided.get(what, 0.0))

    def _after(self, what: str) -> float:
        """Tell the time, or a moment after what is allowed now was taken back, if the clock is coarse."""
        return max(self._clock(), self.voided(what) + 0.001)

    def _lasting(self) -> list[Kept]:
        return self._file.read() if self._file is not None else []

    def _found(self, key: str) -> Rule:
        return next(each for each in self.all() if each.id == f"rule:{key}")

    def _shown(self, key: str, rule: Kept) -> Rule:
        void = ""
        if rule.effect == "allow" and rule.made <= self.voided(rule.what):
            void = CHANGED
        elif rule.effect == "allow" and rule.identity != self._identity(server_in(rule.what)):
            void = OTHER
        known = self._board.get(f"rule:{key}", Rule)
        return Rule(
            id=f"rule:{key}",
            effect=rule.effect,
            what=rule.what,
            scope="always" if rule.chat is None else "chat",
            made=rule.made,
            uses=rule.uses + self._uses.get(key, 0),
            used=max(rule.used, known.used if known is not None else 0.0),
            chat=rule.chat or "",
            void=void,
        )


def matches(pattern: str, what: str) -> bool:
    """Tell whether a denial is about something."""
    return _compiled(pattern).fullmatch(what) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", pattern))), re.DOTALL)


def check(effect: Effect, what: str) -> None:
    """Look at a rule. Raises `ValueError` for what it cannot be about."""
    kind, _, rest = what.rpartition(" ")
    server, slash, tool = rest.partition("/")
    if kind not in _KINDS or not server or (kind != "") == bool(slash) or (slash and not tool):
        raise ValueError(f"{what!r} is not what a rule is about: write server/tool, server/*, or sampling server")
    if effect != "deny" and ("*" in server or ("*" in tool and tool != "*")):
        raise ValueError(f"{what!r}: only a rule that denies may have * there. Else write server/tool or server/*")


def strange(rules: Iterable[str], servers: Collection[str]) -> str:
    """Find a rule that is about none of these servers, and say so with names that are like it; empty: there is none."""
    for rule in rules:
        pattern = server_in(rule)
        if not any(matches(pattern, each) for each in servers):
            near = get_close_matches(pattern, servers, 3, 0.5) or sorted(servers)
            told = f"{rule!r} is about no server that is configured"
            return listed(told, near) if near else f"{told}, as none is"
    return ""


def server_in(what: str) -> str:
    """Read the server's name out of what a rule is about."""
    return unquote(what.rpartition(" ")[2].partition("/")[0])


def _encoded(name: str) -> str:
    return quote(name, safe="@:+,&=()")


def _key(rule: Kept) -> str:
    scope = "always" if rule.chat is None else f"chat {rule.chat}"
    return hashlib.sha256(f"{scope}\n{rule.effect}\n{rule.what}".encode()).hexdigest()[:12]
