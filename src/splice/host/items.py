"""What faces show, as data: servers, tools, chats, messages, calls, questions, rules.

Each is an item of the board (`splice.host.board`), named by its kind and a key: ``server:travel``, ``call:12``. All
text that comes from a server is here as it came; a face escapes it (`splice.host.text`). Times are seconds since 1970.
"""

from typing import Literal, TypeAlias

from msgspec import Struct, field

from splice.host.asked import Asked, Json


class Item(Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Something that a face shows."""

    id: str
    """Its kind, a colon, and a key that is its own among its kind."""


# Servers and what they offer.

ServerState: TypeAlias = Literal["asleep", "starting", "ready", "login", "untrusted", "crashed", "failed", "off"]
"""``asleep``: not started, its lists are known from before, if at all. ``login``: wants a login. ``untrusted``: its
command waits for the user's trust. ``crashed``: it ended, and is started again when it is needed. ``failed``: it cannot
be used as it is configured. ``off``: the user switched it off."""


class Server(Item, frozen=True, tag="server"):
    """A configured server: ``server:NAME``."""

    name: str
    """The local name, from the configuration: what the host calls it."""
    state: ServerState
    word: str = ""
    """Why it is in this state, and what to do, in the host's words; empty while all is well."""
    hue: int = 1
    """1 to 6: its colour, given in the order of adding."""
    title: str = ""
    """What the server calls itself, with its version."""
    protocol: str = ""
    """The version spoken."""
    transport: Literal["stdio", "http", "sse", "memory"] = "stdio"
    runs: str = ""
    """The exact command, or the URL."""
    source: str = ""
    """The file that names it, as the user would write it."""
    tools: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    held: int = 0
    """Tools that changed and wait for the user to look at them."""
    capabilities: list[str] = []
    """What it offers: ``tools.listChanged``."""
    instructions: str = ""
    held_instructions: list["Change"] | None = None
    """They changed since the user last saw them, so: how, and the model has the old ones until the user accepts."""
    findings: list["Finding"] = []
    """Something in the instructions that a person should look at."""
    last_words: list[str] = []
    """The end of its stderr when it crashed or failed."""
    since: float = 0.0
    """When it came into this state."""
    is_remembered: bool = False
    """The numbers are from the last time that it ran."""


class Finding(Struct, frozen=True):
    """Something in a definition that a person should look at."""

    where: str
    """``description``, ``inputSchema.properties.note.description``."""
    what: str
    """In the host's words."""
    is_grave: bool = False


class Change(Struct, frozen=True):
    """A part of a definition that is not as it was."""

    where: str
    words: list[tuple[Literal[" ", "-", "+"], str]]
    """The text word by word: kept, gone or new."""


class Tool(Item, frozen=True, tag="tool"):
    """A tool: ``tool:SERVER/NAME``."""

    server: str
    name: str
    called: str = ""
    """The name that the model sees."""
    title: str = ""
    description: str = ""
    claims: list[str] = []
    """What the server says of it: ``reads only``, ``may delete``, ``repeatable``, ``goes outside``."""
    may_delete: bool = True
    goes_outside: bool = True
    reads_only: bool = False
    schema: Json = {}
    output_schema: Json = None
    is_on: bool = True
    tokens: int = 0
    """What its definition costs in the model's window, about."""
    notes: list[str] = []
    """What of its definition models are not told, or told otherwise: providers refuse some schemas."""
    findings: list[Finding] = []
    held: list[Change] | None = None
    """It changed since the user last saw it, so: these parts, and the model does not get it until the user accepts."""
    is_new: bool = False
    """The user has not looked at it since it came."""
    resembles: str = ""
    """A new tool that looks like this one, which is gone: renamed?"""
    fingerprint: str = ""
    fingerprint_before: str = ""


class Prompt(Item, frozen=True, tag="prompt"):
    """A prompt: ``prompt:SERVER/NAME``."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    arguments: list["PromptField"] = []


class PromptField(Struct, frozen=True):
    """An argument of a prompt. It is text on the wire."""

    name: str
    title: str = ""
    description: str = ""
    is_required: bool = False


# Chats.


class Chat(Item, frozen=True, tag="chat"):
    """A conversation: ``chat:KEY``. One is open; the others can be."""

    title: str
    is_open: bool = False
    is_busy: bool = False
    """A turn is under way."""
    turn: int = 0
    created: float = 0.0
    changed: float = 0.0


class Attached(Struct, frozen=True):
    """A resource that the user gave to the chat."""

    server: str
    uri: str
    name: str = ""
    mime_type: str = ""
    bytes: int = 0
    tokens: int = 0
    is_stale: bool = False
    """It changed on the server since it was read."""


class Message(Item, frozen=True, tag="message"):
    """Something said in the open chat: ``message:NUMBER``, in the order of the numbers, which calls share."""

    chat: str
    role: Literal["user", "model", "host"]
    """``host``: a line of the host's own: a crash, a changed list, a stop."""
    text: str = ""
    at: float = 0.0
    turn: int = 0
    is_done: bool = True
    """False: more text is coming."""
    stop: str = ""
    """Why the model stopped, if not because it was done: ``maxTokens``, ``refusal``, ``stopped by you``, ``error``."""
    prompt: str = ""
    """The prompt that it came from: ``travel/plan-vacation``."""
    attached: list[Attached] = []
    images: list[str] = []
    """``data:`` URLs."""
    model: str = ""
    is_ai: bool = True
    server: str = ""
    """The server that a line of the host is about."""


CallState: TypeAlias = Literal[
    "waiting", "queued", "running", "done", "failed", "denied", "cancelled", "crashed", "timeout"
]
"""``waiting``: for the user. ``queued``: for another call."""


class Progress(Struct, frozen=True):
    """How far a call is."""

    done: float = 0
    total: float | None = None
    message: str = ""


class Step(Struct, frozen=True):
    """A line of how a call came to be allowed or not."""

    at: float
    who: str
    """``you``, ``you, in the terminal``, ``the rule travel/*``, ``the policy``."""
    what: str
    """``Allowed once``, ``Edited the arguments``."""


class Block(Struct, frozen=True, omit_defaults=True):
    """A part of a result, for people."""

    type: Literal["text", "image", "audio", "link", "resource", "binary"]
    text: str = ""
    """The text; of a link or resource its URI."""
    data: str = ""
    """Base64, of images and audio up to a bound."""
    mime_type: str = ""
    bytes: int = 0
    cut: int = 0
    """How many more characters the text has than are here."""


class Call(Item, frozen=True, tag="call"):
    """A call of a tool: ``call:NUMBER``."""

    chat: str
    turn: int
    server: str
    """Empty: a tool of the host itself."""
    tool: str
    title: str = ""
    arguments: Json = {}
    asked_arguments: Json = None
    """What the model wanted, if the user edited it."""
    state: CallState = "queued"
    word: str = ""
    """One sentence about the state: ``waits for you``, ``after bookTrip``, ``the server crashed``."""
    progress: Progress | None = None
    began: float = 0.0
    """Since when it runs, without the time that the user took; 0 while a question about it waits."""
    seconds: float | None = None
    """How long it ran, without the time that the user took; None: it never ran."""
    trail: list[Step] = []
    result: list[Block] = []
    structured: Json = None
    bytes: int = 0
    """Size of the whole result."""
    tokens: int = 0
    given_tokens: int = 0
    """How much of it the model got; the rest it can page through."""
    mismatch: str = ""
    """How the structured result differs from what the tool declared."""
    is_untrusted: bool = False
    """Text from outside came into the turn with it."""


class Question(Item, frozen=True, tag="question"):
    """Something that waits for the user: ``question:NUMBER``. It goes when it is answered or withdrawn."""

    server: str
    """The local name of who asks; empty: the host."""
    chat: str
    asked: Asked
    at: float
    number: int = 0


# Everything else.


class Rule(Item, frozen=True, tag="rule"):
    """A lasting permission: ``rule:KEY``."""

    effect: Literal["allow", "ask", "deny"]
    what: str
    """``travel/bookTrip``, ``travel/*``, ``sampling travel``, ``reads travel``: its tools that only read."""
    scope: Literal["chat", "always"]
    made: float
    uses: int = 0
    used: float = 0.0
    chat: str = ""
    """The chat that it holds in; empty: all of them."""
    void: str = ""
    """Why it no longer counts: ``the definition changed``."""


class Root(Item, frozen=True, tag="root"):
    """A folder that servers are told of: ``root:URI``."""

    uri: str
    name: str = ""
    servers: list[str] | None = None
    """Who is told; None: all."""


class Model(Item, frozen=True, tag="model"):
    """A model that can be chosen: ``model:KEY``."""

    label: str
    is_ai: bool = True
    is_chosen: bool = False
    provider: str = ""
    where: str = ""
    """``on this computer``, ``api.example.com``."""
    window: int = 0
    is_found: bool = False
    """An endpoint on this computer that was found; it is used only once it is chosen."""


class Meter(Item, frozen=True, tag="meter"):
    """What fills the model's window: ``meter:now``, in tokens."""

    window: int = 0
    conversation: int = 0
    definitions: int = 0
    resources: int = 0
    results: int = 0
    calls: int = 0
    """Calls in this turn, of `max_calls`."""
    max_calls: int = 0
    untrusted: list[str] = []
    """Servers whose text from outside came into this turn."""
    is_searching: bool = False
    """There are so many tools that the model searches for them instead of carrying all."""


class Context(Item, frozen=True, tag="context"):
    """What goes along with the next message: ``context:now``."""

    attached: list[Attached] = []


class Log(Item, frozen=True, tag="log"):
    """How long the activity log is: ``log:now``. A face asks for the records it shows."""

    count: int = 0
    last: float = 0.0


class Output(Item, frozen=True, tag="output"):
    """How much a server has written to stderr and as log messages: ``output:SERVER``. A face asks for the lines."""

    server: str
    lines: int = 0
    worst: str = ""
    messages: int = 0
    """How many JSON-RPC messages went to it and came from it. A face asks for them."""


class Notice(Item, frozen=True, tag="notice"):
    """A short word of the host, never a decision: ``notice:NUMBER``. It goes by itself."""

    text: str
    level: Literal["ok", "info", "warn", "bad"] = "info"
    server: str = ""


class Settings(Item, frozen=True, tag="settings"):
    """What the user set: ``settings:now``."""

    values: dict[str, Json] = field(default_factory=dict)
