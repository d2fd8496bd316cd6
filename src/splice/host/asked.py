"""What a user is asked, and how it is answered, as data: one form for all faces.

A `splice.host.items.Question` on the board has one of these in `asked`. Its answer is of the type that its docstring
names, in any face; the first one counts.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

Json: TypeAlias = Any

By: TypeAlias = str
"""Which face answered: ``terminal``, ``web``, ``policy``, ``program``."""


class Approval(Struct, frozen=True, tag="approval", tag_field="type", omit_defaults=True):
    """May this tool be called with these arguments? Answered by `Decision`."""

    call: str
    """The id of the call, which has tool and arguments."""
    tool: str
    """The id of the tool, which has title, claims and schema."""
    why: str
    """Why it is asked: ``no rule``, ``asks always``, ``text from weather came into this turn``."""
    asker: str
    """``The model, in turn 3``, ``travel, for its sampling``."""
    may_always: bool = True
    """False: it may only be allowed once."""
    is_grave: bool = False
    """It may delete, or text from outside came in: allowing takes a slower gesture."""
    loud: str = ""
    """A sentence to be said first: ``This leaves your computer and cannot be undone.``"""
    before: Json = None
    """Arguments of the last call of the tool in this chat, to mark what is different."""
    hidden: int = 0
    """How many characters in the arguments cannot be seen."""


class Form(Struct, frozen=True, tag="form", tag_field="type", omit_defaults=True):
    """A server, or the model, asks the user to fill in a form. Answered by `Filled`."""

    message: str
    schema: Json
    """JSON Schema of a flat object; no properties: a plain confirmation."""
    call: str = ""
    """During which call, if it is known."""
    secrets: list[str] = []
    """Fields that look as if they asked for a secret."""
    draft: Json = None


class Visit(Struct, frozen=True, tag="visit", tag_field="type", omit_defaults=True):
    """A server asks the user to open an address in a browser. Answered by `Filled`."""

    message: str
    url: str
    host: str
    warnings: list[str] = []
    call: str = ""
    is_opened: bool = False
    is_login: bool = False
    loud: str = ""
    """What is worst about the address, in a few words; its warnings say why."""
    is_new: bool = False
    """The server has never sent the user to this host before."""


class Weight(Struct, frozen=True):
    """How a model was weighed."""

    model: str
    total: float
    """The sum of the products of its parts."""
    is_chosen: bool = False
    parts: list[tuple[str, float, float]] = []
    """Of what, its weight, and how the model stands in it."""


class Sampling(Struct, frozen=True, tag="sampling", tag_field="type", omit_defaults=True):
    """A server wants a model to go on with these messages. Answered by `Reviewed`."""

    system: str
    messages: Json
    """`SamplingMessage` as JSON, each with role and content."""
    model: str
    models: list[str]
    """What may be chosen."""
    why: str
    weights: list[Weight] = []
    max_tokens: int = 0
    cap: int = 0
    """The most that the user grants; above it, it cannot run."""
    definitions: Json = None
    """The tools that come along, each `Tool` as JSON: the model reads all of it. Nothing if it brings none."""
    tool_choice: str = ""
    """``required``, ``none``; empty: as the model likes."""
    stops: list[str] = []
    """Words at which the model stops."""
    temperature: float | None = None
    context: str = ""
    """What of the chat it asked for: ``thisServer``, ``allServers``. It gets none, unless the answer says so."""
    rate: str = ""
    """``2 of 10 in this minute``."""
    call: str = ""


class Completion(Struct, frozen=True, tag="completion", tag_field="type", omit_defaults=True):
    """What the model said to a server's sampling: may it go out? Answered by `Reviewed`."""

    text: str
    model: str
    stop: str
    tokens: int = 0
    uses: Json = None
    """Tools that the model wants to use, as the server will get them."""
    call: str = ""


class Trust(Struct, frozen=True, tag="trust", tag_field="type", omit_defaults=True):
    """May this server of a project, or of an edited file, be started? Answered by `Decision`: ``once`` or ``deny``."""

    runs: str
    words: list[str]
    """The command word by word, or the URL alone."""
    source: str
    folder: str
    variables: list[str] = []
    """Names of what it gets in its environment, or of its headers."""
    ignored: list[str] = []
    """What the file suggested and the host does not do: ``autoApprove: *``."""
    fingerprint: str = ""
    before: list[tuple[Literal[" ", "-", "+"], str]] | None = None
    """It was trusted with another command: word by word."""
    is_own: bool = False
    """It stands in the user's own file, and came there while the host ran: a program may have written it."""
    is_remote: bool = False
    """It is not started: it is sent what is said to it."""


class RootsAsked(Struct, frozen=True, tag="roots", tag_field="type"):
    """A server wants to know the folders it may work in. Answered by `Filled` with ``{"uris": [...]}``."""

    known: list[str]


class Goon(Struct, frozen=True, tag="goon", tag_field="type"):
    """A bound of the turn is reached: go on? Answered by `Decision` with ``once`` or ``deny``."""

    what: str
    """``25 calls in this turn``."""


class ResultReview(Struct, frozen=True, tag="result", tag_field="type"):
    """May the model read this result? Answered by `Decision`: ``once``, ``deny`` or changed text in `arguments`."""

    call: str


Asked: TypeAlias = Approval | Form | Visit | Sampling | Completion | Trust | RootsAsked | Goon | ResultReview


def call_in(asked: Asked) -> str:
    """Tell during which call it is asked; empty: during none, or it is not known which."""
    return asked.call if isinstance(asked, Approval | Form | Visit | Sampling | Completion | ResultReview) else ""


class Decision(Struct, frozen=True, tag="decision", tag_field="type", omit_defaults=True):
    """The answer to an approval."""

    verdict: Literal["once", "chat", "tool", "server", "deny", "cancel"]
    """``tool``, ``server``: always for the tool, for all tools of the server."""
    reason: str = ""
    """Why denied: the model is told."""
    arguments: Json = None
    """The user's own arguments instead."""
    is_for_equal: bool = False
    """Answers all calls that wait and are equal: the same tool with the same arguments."""


class Filled(Struct, frozen=True, tag="filled", tag_field="type", omit_defaults=True):
    """The answer to a form or a visit."""

    action: Literal["accept", "decline", "cancel"]
    content: Json = None


class Reviewed(Struct, frozen=True, tag="reviewed", tag_field="type", omit_defaults=True):
    """The answer to a sampling or its completion."""

    verdict: Literal["once", "chat", "always", "again", "deny"]
    """``again``: generate the completion anew."""
    model: str = ""
    system: str | None = None
    messages: Json = None
    max_tokens: int = 0
    text: str | None = None
    """The completion, edited."""
    shares_chat: bool = False


Answer: TypeAlias = Decision | Filled | Reviewed
