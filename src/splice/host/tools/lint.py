"""What in the definition of a tool a person should look at: text that deceives, commands or hides.

No gate: whoever wants to get past these patterns can. They mark tools for a look, and a new tool that shows grave ones
waits for it. The model never gets characters that cannot be seen (`strip`).

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NamedTuple

from splice.host.items import Finding
from splice.host.text import one_line
from splice.host.tools.words import leaves
from splice.schema.schemas import is_array, is_object

JOINERS = "\u200c\u200d\ufe0e\ufe0f"
"""Cannot be seen, but scripts and emoji need them. In results they stay; in definitions there is no need for them."""

MAX_FINDINGS = 20
MAX_READ = 100_000
"""How many characters of a definition are searched. Longer ones are marked for their length."""
LONG_DESCRIPTION, LONG_PART, LONG_WHOLE = 4_000, 2_000, 30_000

_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_NOT_PLAIN = re.compile(r"[^\t\n\x20-\x7e]")
_TAGS = re.compile("[\U000e0000-\U000e0fff]")
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Rule(NamedTuple):
    """A pattern, and what is said of a text that it fits."""

    pattern: re.Pattern[str]
    what: str
    is_grave: bool = False


def _rule(pattern: str, what: str, *, is_grave: bool = False) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), what, is_grave)


RULES = [
    _rule(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|other|system|your)"
        r"\b[^.\n]{0,20}\b(?:instruct|prompt|rule|message|guideline|order)",
        "tells the model to ignore its instructions",
        is_grave=True,
    ),
    _rule(
        r"\b(?:do not|don't|dont|never|without|must not|not to|avoid)\b[^.\n]{0,30}\b(?:tell|mention|inform|show|"
        r"reveal|notif|alert|ask|disclos|warn)\w*[^.\n]{0,20}\b(?:user|human|person|anyone|anybody)",
        "tells the model to keep something from you",
        is_grave=True,
    ),
    _rule(
        r"<\s*/?\s*(?:important|system|instructions?|secret|hidden|critical|admin|assistant)\s*>|<\|\w+\|>|\[/?INST\]",
        "has marks that models take for orders",
        is_grave=True,
    ),
    _rule(r"(?:^|\n)\s*(?:system|assistant|human|user)\s*:", "is written like a message of the conversation"),
    _rule(
        r"\b(?:before|after|when|whenever|prior to|instead of)\s+(?:using|calling|invoking|running)\b",
        "says what to do around calls of tools",
    ),
    _rule(
        r"\b(?:you|(?:the|an?) (?:model|assistant|ai|llm|agent)) (?:must|shall|have to|are required)\b", "gives orders"
    ),
    _rule(r"\b(?:always|first|instead|immediately)\s+(?:call|use|invoke|run)\b", "wants to be preferred"),
    _rule(
        r"\b(?:system prompt|(?:conversation|chat|message) history|(?:entire|whole|full) (?:conversation|chat)|"
        r"(?:previous|prior) messages|chain of thought)\b",
        "asks for the conversation",
    ),
    _rule(
        r"[~/\\]\.(?:ssh|aws|gnupg|kube|netrc|npmrc|pypirc|git-credentials|docker|cursor|claude)\b|\bid_(?:rsa|ed25519)\b|"
        r"/etc/(?:passwd|shadow)|\bmcp\.json\b|(?<![\w.])\.env\b|\b(?:private|secret) keys?\b",
        "names files with secrets",
        is_grave=True,
    ),
    _rule(r"https?://[^\s\"'<>?]{0,300}\?[^\s\"'<>]{0,200}(?:[{$<]|%s)", "has an address with places to be filled in"),
    _rule(r"!\[[^\]\n]{0,200}\]\(|<img\b", "has a picture that would be loaded from elsewhere"),
    _rule(r"(?<![A-Za-z0-9+/])(?=[A-Za-z+/]{0,60}[0-9])[A-Za-z0-9+/]{100,}", "has a long text that nobody can read"),
]
"""What is looked for in every text of a definition, names of properties among them."""

_ASKING = {
    "sidenote", "sidenotes", "note", "notes", "context", "reasoning", "thoughts", "thinking", "memo", "scratchpad",
    "conversation", "history", "chathistory", "systemprompt", "explanation", "rationale", "justification", "feedback",
}  # fmt: skip
_WRITES = re.compile(  # a booking, a payment and what was created may be read
    r"(?:delete|remove|drop|write|create|update|send|book|pay|execute)(?!(?-i:(?:d|ings?|ments?)(?![a-z])))",
    re.IGNORECASE,
)
_WORD, _IDENTIFIER = re.compile(r"[A-Za-z0-9_-]+"), re.compile(r"[A-Za-z0-9][_-][A-Za-z0-9]|[a-z0-9][A-Z]")


def strip(text: str, keep: str = "") -> str:
    """Leave out the characters that cannot be seen, but line ends and tabs, and those that are to be kept."""
    if _NOT_PLAIN.search(text) is None:
        return text
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else "", text)


def lint(definition: Mapping[str, Any]) -> list[Finding]:
    """List what a person should look at in a definition, as `splice.host.tools.pins.definition` writes it."""
    return list(islice(_findings(definition), MAX_FINDINGS))


def names_in(definition: Mapping[str, Any]) -> frozenset[str]:
    """Collect what may be names of tools in the texts about a tool: words with ``_``, ``-`` or an inner capital."""
    texts = (value for path, value in leaves(definition) if isinstance(value, str) and path != ("name",))
    words = set(_WORD.findall("\n".join(texts)[:MAX_READ]))
    return frozenset(each for each in words if _IDENTIFIER.search(each))


def mentions(names: AbstractSet[str], others: Mapping[str, str]) -> list[Finding]:
    """Say which tools of other servers are named; ``others`` tells whose each one is."""
    return [
        Finding("", f"names {one_line(name)}, a tool of {one_line(others[name])}")
        for name in sorted(names & others.keys())[:MAX_FINDINGS]
    ]


def _findings(definition: Mapping[str, Any]) -> Iterator[Finding]:
    texts = list(_texts(definition))
    whole = "\n".join(text for _, text in texts)
    yield from _about_sizes(texts, whole)
    yield from _about_names(definition)
    if not (whole.isascii() and _NOT_PLAIN.search(whole) is None):
        yield from (found for where, text in texts for found in _unseen(where, text))
    for rule in RULES:
        if rule.pattern.search(whole[:MAX_READ]):
            yield from _matches(rule, texts)


def _texts(definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every text with its place. The names of properties are texts of the server, too."""
    keys = set[tuple[str, ...]]()
    for place, value in leaves(definition):
        path = tuple(map(str, place))
        where = ".".join(path)
        if isinstance(value, str):
            yield where, value
        elif is_array(value):
            yield where, "\n".join(each for each in value if isinstance(each, str))
        for depth in range(2, len(path) + 1):
            if path[:depth] not in keys:
                keys.add(path[:depth])
                yield ".".join(path[: depth - 1]), path[depth - 1]


def _matches(rule: Rule, texts: list[tuple[str, str]]) -> Iterator[Finding]:
    left = MAX_READ
    for where, text in texts:
        if found := rule.pattern.search(text[: max(left, 0)]):
            yield Finding(where, f"{rule.what}: \u201c{one_line(strip(found[0]))[:80]}\u201d", rule.is_grave)
        left -= len(text) + 1


def _unseen(where: str, text: str) -> Iterator[Finding]:
    hidden = _UNSEEN.findall(text)
    if hidden:
        what = "which the model does not get"
        if _TAGS.search(text):
            what = "of a kind that hides text from you; the model does not get them"
        elif _TURNING.search(text):
            what = "which turn the direction of reading; the model does not get them"
        names = ", ".join(dict.fromkeys(f"U+{ord(each):04X}" for each in hidden[:200]))
        is_grave = any(each not in JOINERS for each in hidden)
        yield Finding(where, f"has {len(hidden)} characters that cannot be seen ({names[:60]}), {what}", is_grave)


def _about_sizes(texts: list[tuple[str, str]], whole: str) -> Iterator[Finding]:
    if len(whole) > LONG_WHOLE:
        yield Finding("", f"is very long: {len(whole)} characters, where 1,000 are usual")
    for where, text in texts:
        if len(text) > (LONG_DESCRIPTION if where in ("description", "instructions") else LONG_PART):
            yield Finding(where, f"is very long: {len(text)} characters")


def _about_names(definition: Mapping[str, Any]) -> Iterator[Finding]:
    name = str(definition.get("name", ""))
    if not name.isascii():
        letters = ", ".join(dict.fromkeys(unicodedata.name(each, "?") for each in name if not each.isascii()))
        yield Finding("name", f"has letters that may look like others: {letters[:120].lower()}")
    annotations, schema = definition.get("annotations"), definition.get("inputSchema")
    if is_object(annotations) and annotations.get("readOnlyHint") is True and (found := _WRITES.search(name)):
        yield Finding("annotations.readOnlyHint", f"says that it only reads, but its name has \u201c{found[0]}\u201d")
    properties = schema.get("properties") if is_object(schema) else None
    for parameter in properties if is_object(properties) else ():
        plain = re.sub(r"[\W_]", "", parameter).casefold()
        if plain in _ASKING and plain.removesuffix("s") not in name.casefold():
            where = f"inputSchema.properties.{parameter}"
            yield Finding(where, "asks the model for free text of its own; a text about you may leave by it")
