"""A conversation as the demo model reads it: what is to be done, what was done for it, and what the user said since.

The model keeps no state. The id of each use of a tool says for which part of the task it was: ``demo-2-1-0-7`` is the
seventh use, for the first clause of the second step.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from splice.host.models.demo.fields import mapping, words_in
from splice.host.models.demo.steps import is_numbered
from splice.types import SamplingMessage, TextContent, ToolResultContent, ToolUseContent

MAX_TEXT = 20_000
"""How many characters of a message are read."""

_ID = re.compile(r"demo-(.+)-\d+")
_YES = words_in("yes y yep yeah ok okay sure agree agreed go continue fine great perfect good again do book")
_NO = words_in("no n nope stop cancel don't never not wait")
_FILLER = words_in(
    "please on ahead i we that this is it's its to me all works for with the plan looks sounds good try do it now then "
    "thanks thank you very much so let's all right alright right away"
)
_DATA = re.compile(
    r"\s*(?:\{\s*[\"}]|\[\s*[{\[\"\d\]]|<[a-zA-Z!?/]|```|Data of .{1,200} between the marks \w|"
    r"\(The first \d+ messages)"
)
_FENCED = re.compile(r"Data of [^\n]* between the marks (\w+)\.[^\n]*\n\[\1\]\n(.*)\n\[/\1\]\s*", re.DOTALL)
_BEGINS = re.compile(r"(?:^|\n|answered: )(?=[{\[])")
_DENIED = re.compile(r"\b(?:den(?:y|ied)|declined|refused|not allow(?:ed)?|did not want|cancelled)\b", re.IGNORECASE)
_UNDONE = {"declined", "cancelled", "canceled", "released", "expired", "failed", "rejected", "held"}

Word = Literal["new", "yes", "no"]


class Done(NamedTuple):
    """A use of a tool, and what came of it."""

    key: str
    """Which part of the task it was for; empty if another model used it."""
    name: str
    arguments: dict[str, Any]
    result: ToolResultContent | None
    at: int
    """In which message the use stands."""

    @property
    def text(self) -> str:
        """The text of the result."""
        return parted(self._whole)[0] if self._data is None else self._whole

    @property
    def value(self) -> Any:
        """The result as data; None if it is only text."""
        return parted(self._whole)[1] if self._data is None else self._data

    @property
    def _whole(self) -> str:
        blocks = self.result.content if self.result else []
        return "\n".join(unfenced(block.text) for block in blocks if isinstance(block, TextContent))

    @property
    def _data(self) -> Any:
        return None if self.result is None else self.result.structured_content

    @property
    def is_denied(self) -> bool:
        """The user did not allow it."""
        return self.result is not None and self.result.is_error and bool(_DENIED.search(self.text[:300]))

    @property
    def is_ok(self) -> bool:
        """It did what it was to do: a booking that the user declined, or did not pay yet, did not."""
        return self.result is not None and not self.result.is_error and not self.undone

    @property
    def undone(self) -> str:
        """The status that a result tells, where it means that nothing was done."""
        status = mapping(self.value).get("status")
        return status if isinstance(status, str) and status.casefold() in _UNDONE else ""


class Talk:
    """What a conversation says."""

    def __init__(self, messages: Sequence[SamplingMessage]) -> None:
        self.messages = messages
        self.said = [(at, text) for at, text in _said(messages) if text.strip()]
        words: list[tuple[int, Word]] = [(at, read_word(text)) for at, text in self.said if not is_data(text)]
        begun = [at for at, word in words if word == "new"]
        self.word: Word = words[-1][1] if begun else "new"
        self.task_at = begun[-1] if begun else 0
        self.last_said_at = self.said[-1][0] if self.said else 0
        self.agreed_at = [at for at, word in words if word == "yes" and at > self.task_at]
        self.uses = list(_uses(messages))
        self.done = [each for each in self.uses if each.at > self.task_at]

    @property
    def task(self) -> str:
        """The text that says what to do: of the messages that stand together, the one with steps, or the last request.

        Contents of resources stand beside it.
        """
        run = [text for at, text in self.said if self._is_together(at)] or [self.said[-1][1] if self.said else ""]
        asked = [text for text in run if not is_data(text)]
        for text in reversed(asked):
            if is_numbered(text):
                return text
        return (asked or [text for text in run if not is_fenced(text)] or [""])[-1]

    def context(self) -> list[str]:
        """Give what the user said up to the task, the task first, without contents of resources."""
        said = [text for at, text in reversed(self.said) if at <= self.task_at and not is_data(text)]
        return [self.task, *(each for each in said if each != self.task)]

    def fresh(self) -> list[Done]:
        """Give the uses whose results came with the last message."""
        last = self.messages[-1] if self.messages else None
        blocks = last.blocks if last else []
        ids = {block.tool_use_id for block in blocks if isinstance(block, ToolResultContent)}
        return [each for each in self.done if each.result is not None and each.result.tool_use_id in ids]

    def outcome(self, key: str) -> Done | None:
        """Find what came of a part of the task; something that failed before the user said to go on is open again."""
        fits = (each for each in reversed(self.done) if each.key == key)
        return next((each for each in fits if each.is_ok or each.at > self.last_said_at), None)

    def was_told(self, mark: str) -> bool:
        """Tell whether the model said something, and the user agreed after that."""
        for at, message in enumerate(self.messages):
            if at > self.task_at and message.role == "assistant" and mark in _text(message):
                return any(agreed > at for agreed in self.agreed_at)
        return False

    def _is_together(self, at: int) -> bool:
        return at <= self.task_at and all(each.role == "user" for each in self.messages[at : self.task_at])


def read_word(text: str) -> Word:
    """Tell whether a message only says yes or no to what was said before."""
    words = re.findall(r"[\w']+", text.casefold().replace("\u2019", "'")[:100])
    if not words or len(text.strip()) > 80:
        return "new"
    if words[0] in _NO and all(word in _NO | _YES | _FILLER for word in words):
        return "no"
    return "yes" if _YES & set(words) and all(word in _YES | _FILLER for word in words) else "new"


def is_data(text: str) -> bool:
    """Tell whether a text is the contents of something rather than said by a person."""
    return _DATA.match(text) is not None


def is_fenced(text: str) -> bool:
    """Tell whether a text stands in the marks that the host puts around what servers say: it asks for nothing."""
    return _FENCED.fullmatch(text) is not None


def unfenced(text: str) -> str:
    """Take a text out of the marks that the host puts around what servers say."""
    found = _FENCED.fullmatch(text)
    return found[2] if found else text


def parted(text: str) -> tuple[str, Any]:
    """Divide a result into its text and the JSON that it is or that follows it; None if it has none."""
    starts = [match.end() for match in _BEGINS.finditer(text)]
    for at in dict.fromkeys([*starts[:2], *starts[-2:]]):
        try:
            return text[:at].strip()[:MAX_TEXT] or text[:MAX_TEXT], msgspec.json.decode(text[at:].strip())
        except (msgspec.DecodeError, RecursionError):
            continue
    return text[:MAX_TEXT], None


def _said(messages: Sequence[SamplingMessage]) -> Iterator[tuple[int, str]]:
    for at, message in enumerate(messages):
        if message.role == "user":
            yield from ((at, block.text[:MAX_TEXT]) for block in message.blocks if isinstance(block, TextContent))


def _text(message: SamplingMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextContent))


def _uses(messages: Sequence[SamplingMessage]) -> Iterator[Done]:
    results: dict[str, ToolResultContent] = {}
    for message in messages:
        results |= {block.tool_use_id: block for block in message.blocks if isinstance(block, ToolResultContent)}
    for at, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, ToolUseContent) and message.role == "assistant":
                found, (name, arguments) = _ID.fullmatch(block.id), _inner(block)
                yield Done(found[1] if found else "", name, arguments, results.get(block.id), at)


def _inner(use: ToolUseContent) -> tuple[str, dict[str, Any]]:
    """Give the tool that is called, also where it is called through the one that calls any."""
    name, arguments = use.input.get("name"), use.input.get("arguments")
    if use.name != "call_tool" or not isinstance(name, str):
        return use.name, use.input
    return name, dict(mapping(arguments))
