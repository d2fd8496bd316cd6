"""Commands of line mode about what is decided for longer: rules and settings."""

from collections.abc import Awaitable, Callable

from splice.host.items import Rule
from splice.host.terminal import settable, words
from splice.host.terminal.hosted import Effect, Hosted
from splice.host.terminal.talk import Talk

USAGE = {
    "permissions": "",
    "allow": "WHAT",
    "ask": "WHAT",
    "deny": "WHAT",
    "revoke": "NUMBER",
    "restore": "",
    "settings": "",
    "set": "NAME [VALUE]",
}
"""WHAT is SERVER/TOOL, SERVER/* or reads SERVER."""


class Rulings:
    """Does what these commands say."""

    def __init__(self, host: Hosted, talk: Talk) -> None:
        self._host, self._talk = host, talk
        self._revoked = ""

    def alone(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """List the commands that need nothing more."""
        return {"permissions": self._permissions, "restore": self._restore, "settings": self._settings}

    def of(self) -> dict[str, Callable[[str], Awaitable[None]]]:
        """List the commands about something."""
        return {
            "allow": lambda rest: self._grant("allow", rest),
            "ask": lambda rest: self._grant("ask", rest),
            "deny": lambda rest: self._grant("deny", rest),
            "revoke": self._revoke,
            "set": self._set,
        }

    def _rules(self) -> list[Rule]:
        return sorted(self._host.board.all(Rule), key=lambda each: each.id)

    async def _permissions(self) -> None:
        for number, each in enumerate(self._rules(), 1):
            long = "in this chat" if each.scope == "chat" else "always"
            since = f"since {words.day(each.made)}, used {words.counted(each.uses, 'time')}"
            self._talk.tell(f"{number}: {each.effect} {each.what} {long}, {since}.")
        if not self._rules():
            self._talk.tell("There are no rules: everything is asked.")

    async def _grant(self, effect: Effect, what: str) -> None:
        self._host.grant(effect, what)
        self._talk.tell(f"The rule is made: {effect} {what}, always.")

    async def _revoke(self, rest: str) -> None:
        rules = self._rules()
        place = int(rest) if rest.isdecimal() and len(rest) < 7 else 0
        if not 1 <= place <= len(rules):
            self._talk.tell(f"There is no rule {rest}. /permissions lists them by their numbers.")
            return
        self._revoked = rules[place - 1].id
        self._host.revoke(self._revoked)
        self._talk.tell(f"Revoked: {rules[place - 1].effect} {rules[place - 1].what}. /restore brings it back.")

    async def _restore(self) -> None:
        if self._revoked:
            self._host.restore(self._revoked)
            self._talk.tell("It is back.")
        else:
            self._talk.tell("Nothing was revoked here.")

    async def _settings(self) -> None:
        for name, title in settable.TITLES.items():
            self._talk.tell(f"{name}: {settable.shown(self._host.board, name) or 'nothing'}. {title}.")

    async def _set(self, rest: str) -> None:
        name, _, text = rest.partition(" ")
        if name not in settable.TITLES:
            self._talk.tell(f"There is no setting {name}. /settings lists them.")
            return
        await self._host.set(name, settable.value_of(name, text))
        self._talk.tell(f"{name} is set." if text.strip() else f"{name} is back to its default.")
