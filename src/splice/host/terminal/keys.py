"""The keys: one table for the footer, the palette, the help and the tests."""

VIEWS = ("chat", "servers", "tools", "resources", "activity", "permissions", "settings")
"""F2 to F8, and the digits 1 to 7."""

Keys = tuple[tuple[str, str], ...]

FOOTERS: dict[str, Keys] = {
    "start": (("Enter", "send"), ("/", "prompts"), ("@", "resources"), ("^P", "commands"), ("F1", "help")),
    "chat": (("^J", "new line"), ("Tab", "next"), ("^P", "commands"), ("F1", "help")),
    "servers": (("r", "restart"), ("o", "on, off"), ("l", "logs"), ("i", "log in"), ("^P", "commands"), ("F1", "help")),
    "tools": (("Space", "on, off"), ("v", "schema"), ("y", "accept"), ("^P", "commands"), ("F1", "help")),
    "resources": (
        ("Space", "pick"),
        ("Enter", "open"),
        ("u", "read anew"),
        ("/", "search"),
        ("Esc", "back"),
        ("F1", "help"),
    ),
    "activity": (("/", "filter"), ("Enter", "raw"), ("^P", "commands"), ("F1", "help")),
    "permissions": (("x", "revoke"), ("u", "undo"), ("n", "new"), ("e", "edit"), ("^P", "commands"), ("F1", "help")),
    "settings": (("Enter", "choose"), ("f", "find models"), ("^P", "commands"), ("F1", "help")),
}
"""The most useful first, `F1 help` last; a narrow footer drops from the middle."""

WAITING = ("^O", "answer")
BUSY = ("Esc", "stop")

GENERAL: Keys = (
    ("Enter", "send"),
    ("^J", "new line"),
    ("/ @ #", "prompt, resource, tool"),
    ("Esc", "back; in a turn, twice: stop it"),
    ("^C", "copy, stop, twice: quit"),
    ("^O", "answer what waits"),
    ("Tab", "next part; Shift+Tab: the one before"),
    ("^F", "find in the chat; then n, N"),
    ("^G", "write in your editor"),
    ("^N", "new chat"),
    ("^P", "all commands"),
    ("F2 to F8", "Chat, Servers, Tools, Resources, Activity, Permissions, Settings"),
    ("F9", "side columns"),
    ("PgUp PgDn", "scroll the chat, from where you write too"),
)

QUESTIONS: Keys = (
    ("a s A", "allow once, in this chat, always"),
    ("d D", "deny, and say why"),
    ("e", "edit first"),
    ("v", "raw JSON"),
    ("c", "what changed since the last call"),
    ("[ ]", "the question before, after"),
    ("*", "once for all that are equal"),
    ("End", "see all of it: only then it can be allowed"),
)

CALLS: Keys = (
    ("Enter", "open, close"),
    ("Delete", "cancel this call"),
    ("v", "other form"),
    ("y", "copy as a command"),
)

NEVER = {
    *(f"ctrl+{letter}" for letter in ("b", "a", "q", "backslash", "z", "i", "m", "h", "left_square_bracket")),
    *(f"ctrl+{letter}" for letter in ("e", "k", "u", "w", "d", "x", "v", "y")),
}
"""Keys that are left alone: of tmux and screen, of the terminal's own, of editing, and those that are other keys."""
