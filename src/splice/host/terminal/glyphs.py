"""Signs, each with its form in ASCII. A word that says the same always stands beside a sign."""

from collections.abc import Mapping
from dataclasses import dataclass

from splice.host.items import CallState, ServerState


@dataclass(frozen=True)
class Glyphs:
    """The signs of one way to draw."""

    is_ascii: bool
    wait: str
    turning: tuple[str, ...]
    done: str
    ready: str
    failed: str
    denied: str
    asleep: str
    picked: str
    unpicked: str
    template: str
    bar: str
    bar_empty: str
    rule: str
    prompt: str
    splice: str
    down: str
    up: str
    to: str
    dot: str

    def call(self, state: CallState, turn: int = 0) -> tuple[str, str]:
        """Return the sign of a call, and its style."""
        if state == "running":
            return self.turning[turn % len(self.turning)], "$accent"
        signs = {"waiting": (self.wait, "$wait"), "queued": (self.asleep, "$edge"), "done": (self.done, "$success")}
        quiet = {"denied": (self.denied, "$muted"), "cancelled": (self.denied, "$muted")}
        return (signs | quiet).get(state, (self.failed, "$error"))

    def server(self, state: ServerState) -> tuple[str, str]:
        """Return the sign of a server, and its style."""
        signs = {"ready": (self.ready, "$success"), "starting": (self.turning[0], "$accent")}
        asks = {"login": (self.wait, "$wait"), "untrusted": (self.wait, "$wait")}
        rests = {"asleep": (self.asleep, "$edge"), "off": (self.asleep, "$edge")}
        return (signs | asks | rests).get(state, (self.failed, "$error"))


UNICODE = Glyphs(
    is_ascii=False,
    wait="◆",
    turning=("◐", "◓", "◑", "◒"),
    done="✓",
    ready="●",
    failed="✕",
    denied="⊘",
    asleep="○",
    picked="▣",
    unpicked="▢",
    template="▷",
    bar="━",
    bar_empty="━",
    rule="▎",
    prompt="\u203a",
    splice="⋈",
    down="↓",
    up="↑",
    to="→",
    dot="·",
)

ASCII = Glyphs(
    is_ascii=True,
    wait="?",
    turning=("*",),
    done="+",
    ready="+",
    failed="x",
    denied="-",
    asleep=".",
    picked="[x]",
    unpicked="[ ]",
    template=">",
    bar="#",
    bar_empty="-",
    rule="|",
    prompt=">",
    splice="><",
    down="v",
    up="^",
    to="->",
    dot="-",
)


def choose(environ: Mapping[str, str], *, setting: str = "", encoding: str = "utf-8") -> Glyphs:
    """Choose the signs: ASCII where the setting, the terminal or the encoding of its text want it."""
    wants = setting == "ascii" or environ.get("TERM") == "linux"
    return ASCII if wants or encoding.lower().replace("-", "") != "utf8" else UNICODE
