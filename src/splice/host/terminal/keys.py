"""The keys: one table for bindings, footer, palette, help and `keys.toml`. Arrows and the like are not in it.

A key is named ``PLACE.ACTION``: ``servers.restart``. Places are the app, views, parts of the chat, and dialogs.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from textual.binding import Binding, BindingType

VIEWS = ("chat", "servers", "tools", "resources", "activity", "permissions", "settings")
"""F2 to F8, and the digits 1 to 7."""


class Key(NamedTuple):
    """What a key does in a place."""

    keys: str
    """As Textual names them, several with commas."""
    action: str
    does: str
    """In the help."""
    foot: str = ""
    """In the footer; empty: it has no place there."""
    wins: bool = False
    """It acts in text fields too."""


Drawn = tuple[tuple[str, str], ...]
"""Keys as they are drawn, each with what it does."""

PLACES: dict[str, tuple[Key, ...]] = {
    "app": (
        Key("ctrl+o", "answer", "answer what waits"),
        Key("ctrl+f", "find", "find in the chat; then n, N"),
        Key("ctrl+g", "editor", "write in your editor"),
        Key("ctrl+l", "off", "take off what goes along, take back what waits"),
        Key("ctrl+n", "new", "new chat"),
        Key("ctrl+p", "palette", "all commands"),
        Key("f1", "help", "help", wins=True),
        *(Key(f"f{number}", f"view('{view}')", view.title(), wins=True) for number, view in enumerate(VIEWS, 2)),
        Key("f9", "sides", "side columns", wins=True),
        Key("ctrl+c", "interrupt", "copy, stop, twice: quit", wins=True),
    ),
    "chat": (Key("n", "again(-1)", "the one found before"), Key("N", "again(1)", "the one found after")),
    "message": (Key("y", "copy_message", "copy it"),),
    "call": (
        Key("enter", "open", "open, close"),
        Key("delete", "cancel", "cancel this call"),
        Key("v", "turn", "other form"),
        Key("y", "copy", "copy as a command"),
    ),
    "servers": (
        Key("r", "restart", "restart", "restart"),
        Key("o", "switch", "on, off"),
        Key("n", "add", "add one", "add"),
        Key("l", "logs", "what it wrote", "logs"),
        Key("m", "messages", "messages to it and from it"),
        Key("i", "login", "log in", "log in"),
        Key("x", "remove", "remove it"),
        Key("s", "stop", "stop; it starts again when it is needed"),
    ),
    "tools": (
        Key("space", "switch", "on, off", "on, off"),
        Key("v", "schema", "schema", "schema"),
        Key("y", "accept", "accept a change", "accept"),
        Key("n", "refuse", "keep one that changed off"),
    ),
    "table": (
        Key("less_than_sign", "sort(-1)", "sort by the column before"),
        Key("greater_than_sign", "sort(1)", "sort by the next column"),
        Key("R", "reverse", "sort the other way"),
    ),
    "resources": (
        Key("space", "pick", "give to the chat, or take away", "pick"),
        Key("u", "anew", "read anew what changed", "read anew"),
        Key("slash", "search", "search", "search"),
    ),
    "activity": (
        Key("slash", "filter", "filter", "filter"),
        Key("y", "copy", "copy as a command", "copy"),
    ),
    "permissions": (
        Key("x", "revoke", "revoke", "revoke"),
        Key("u", "undo", "bring back what was revoked", "undo"),
        Key("n", "new", "make one", "new"),
        Key("e", "edit", "put another in its place", "edit"),
    ),
    "settings": (
        Key("f", "find", "look for models on this computer", "find models"),
        Key("n", "add", "add a folder", "add a folder"),
        Key("x", "remove", "remove the folder; take a setting back to its default"),
    ),
    "question": (
        Key("left_square_bracket,left", "leaf(-1)", "the question before"),
        Key("right_square_bracket,right", "leaf(1)", "the question after"),
    ),
    "approval": (
        Key("a", "once", "allow once"),
        Key("s", "chat", "allow in this chat"),
        Key("A", "always", "allow always"),
        Key("e", "edit", "edit first"),
        Key("d", "deny", "deny"),
        Key("D", "why", "deny, and say why"),
        Key("v", "raw", "raw JSON"),
        Key("c", "changed", "what changed since the last call"),
        Key("asterisk", "same", "once for all that are equal"),
    ),
    "form": (
        Key("ctrl+s", "send", "send", wins=True),
        Key("d", "decline", "decline"),
        Key("x", "cancel", "cancel the call"),
    ),
    "visit": (
        Key("o", "open", "open in the browser"),
        Key("y", "copy", "copy the address"),
        Key("i", "done", "I am done"),
        Key("d", "decline", "decline"),
        Key("x", "cancel", "cancel"),
    ),
    "sampling": (
        Key("a", "once", "allow once"),
        Key("s", "chat", "allow in this chat"),
        Key("e", "edit", "edit"),
        Key("m", "model", "another model"),
        Key("i", "share", "include the chat, once"),
        Key("d", "deny", "deny"),
    ),
    "completion": (
        Key("a", "once", "give it"),
        Key("e", "edit", "edit"),
        Key("g", "again", "generate again"),
        Key("d", "deny", "deny"),
    ),
    "look": (Key("a", "add", "add it"),),
    "trust": (Key("t", "trust", "trust it"), Key("n", "deny", "not now")),
    "goon": (Key("a", "once", "yes"), Key("d", "deny", "no")),
    "folders": (Key("a", "once", "tell it"), Key("n", "add", "add a folder"), Key("d", "deny", "decline")),
    "prompt": (
        Key("ctrl+s", "send", "send", wins=True),
        Key("ctrl+r", "preview", "preview", wins=True),
        Key("ctrl+g", "text", "edit as text", wins=True),
    ),
    "arguments": (Key("ctrl+s", "use", "use them"), Key("ctrl+r", "turn", "form or JSON")),
}

DECIDES = ("approval", "form", "visit", "sampling", "completion", "trust", "goon", "folders", "look")
"""Where something is decided: Enter, Space and Esc never do that."""

SENDING: Drawn = (("Enter", "send"), ("^J", "new line"), ("/ @ #", "prompt, resource, tool"))
"""Keys of the composer, which cannot be changed."""

LEAVING: Drawn = (
    ("Esc", "back; in a turn, twice: stop it"),
    ("Tab", "next part; Shift+Tab: the one before"),
    ("PgUp PgDn", "scroll the chat, from where you write too"),
)

SEEING: Drawn = (("End", "see all of it: only then it can be allowed"),)

NEVER = {
    *(f"ctrl+{letter}" for letter in ("b", "a", "q", "backslash", "z", "i", "m", "h", "left_square_bracket")),
    *(f"ctrl+{letter}" for letter in ("e", "k", "u", "w", "d", "x", "v", "y")),
}
"""Keys that are left alone: of tmux and screen, of the terminal's own, of editing, and those that are other keys."""

_SIGNS = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "slash": "/",
    "asterisk": "*",
    "escape": "Esc",
}


def name(place: str, key: Key) -> str:
    """Name a key as `keys.toml` does: ``servers.restart``; of the actions of views the view: ``app.servers``."""
    action, _, rest = key.action.partition("(")
    argument = rest.strip("')")
    if action == "view":
        return f"{place}.{argument}"
    return f"{place}.{action}{'' if not argument else '-before' if argument.startswith('-') else '-next'}"


def all_keys() -> Iterable[tuple[str, str, Key]]:
    """List all keys: their names, their places, and what they do."""
    for place, keys in PLACES.items():
        yield from ((name(place, key), place, key) for key in keys)


def bindings(*places: str) -> list[BindingType]:
    """Make the bindings of places."""
    return [
        Binding(key.keys, key.action, key.does, show=False, priority=key.wins, id=name(place, key))
        for place in places
        for key in PLACES[place]
    ]


def sign(key: str) -> str:
    """Draw a key: ``ctrl+o`` as ``^O``."""
    first = key.partition(",")[0]
    if first.startswith("ctrl+"):
        return f"^{first.removeprefix('ctrl+').upper()}"
    return _SIGNS.get(first, first if len(first) == 1 else first.title())


def pressed(sign: str) -> str:
    """Name a key that is drawn, so that a click on it can press it."""
    if sign.startswith("^"):
        return f"ctrl+{sign[1:].lower()}"
    names = {drawn: named for named, drawn in _SIGNS.items()} | {"@": "at"}
    return names.get(sign, sign if len(sign) == 1 else sign.lower())


class Signs:
    """How the keys are drawn, as the user has set them."""

    def __init__(self, changed: Mapping[str, str] | None = None) -> None:
        known = {named: key.keys for named, _, key in all_keys()}
        self._signs = {named: sign(keys) for named, keys in (known | dict(changed or {})).items()}

    def of(self, named: str) -> str:
        """Draw a key by its name; empty: there is none."""
        return self._signs.get(named, "")

    def help(self, *places: str) -> list[tuple[str, str]]:
        """List the keys of places with what they do."""
        return [(self.of(name(place, key)), key.does) for place in places for key in PLACES[place]]

    def foot(self, view: str) -> list[tuple[str, str]]:
        """List the keys that the footer of a view shows: the most useful first, help last."""
        commands, help_ = (self.of("app.palette"), "commands"), (self.of("app.help"), "help")
        if view == "start":
            return [("Enter", "send"), ("/", "prompts"), ("@", "resources"), commands, help_]
        if view == "chat":
            return [("^J", "new line"), ("Tab", "next"), commands, help_]
        enter = {"resources": "open", "activity": "raw", "settings": "choose"}.get(view)
        own = [(self.of(name(view, key)), key.foot) for key in PLACES[view] if key.foot]
        opens = [("Enter", enter)] if enter else []
        return [*own[:1], *opens, *own[1:], *([] if len(own) + len(opens) > 4 else [commands]), help_][-6:]
