"""Answers to a server that asks for a model: JSON where it wants JSON, a tool where one fits, else quoted sentences.

Nothing is written anew. It is good for trying out how such answers are reviewed, not for what they say.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from splice.host.models.demo.fields import choices_of, mapping, plain, words_of
from splice.host.models.demo.ranking import Ranked, rank
from splice.host.models.demo.retrieval import ENOUGH, OF_HOST, Shelf
from splice.host.models.demo.talk import Talk
from splice.host.models.demo.turn import Call, Reply
from splice.host.tools.search import terms
from splice.types import CreateMessageParams, TextContent, ToolResultContent

MAX_DEPTH = 6
MAX_ENTRIES = 10
MAX_SENTENCES = 3
MAX_READ = 40_000

_SCHEMA = re.compile(r"JSON Schema:?\s*(\{.*\})", re.DOTALL | re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBERED = {"number", "index", "option", "choice", "id", "rank"}


class Sampling:
    """One request of a server."""

    def __init__(self, params: CreateMessageParams, shelf: Shelf, today: date) -> None:
        self.params = params
        self.shelf = shelf
        self.today = today
        self.text = "\n".join(_texts(params))[:MAX_READ]
        self.ranked = rank(self.text)

    def reply(self) -> Reply:
        """Answer."""
        mode = self.params.tool_choice.mode if self.params.tool_choice else None
        if self.shelf.tools and mode != "none":
            call = self._use(is_required=mode == "required")
            if call is not None:
                return Reply("", [call])
        schema = self._wanted()
        if schema is not None:
            return Reply(msgspec.json.encode(self.value(schema, schema)).decode(), [])
        return Reply(self._extract(), [])

    def value(
        self, schema: Any, root: Mapping[str, Any], depth: int = 0, option: Ranked | None = None, name: str = ""
    ) -> Any:
        """Make a value that fits a schema out of the text."""
        here = plain(schema, root)
        choices = choices_of(here)
        if choices:
            spoken = set(terms(self.text[-2000:]))
            return next((each for each in choices if set(terms(str(each))) & spoken), choices[0])
        kind = here.get("type")
        if kind == "object" or "properties" in here:
            given = list(mapping(here.get("properties")).items())[:40] if depth < MAX_DEPTH else []
            return {each: self.value(part, root, depth + 1, option, each) for each, part in given}
        if kind == "array":
            return self._entries(here, root, depth)
        if kind in {"integer", "number"}:
            return self._number(here, option, name)
        if kind == "boolean":
            return True
        return None if kind == "null" else self._words(here, option)

    def _entries(self, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
        least = schema.get("minItems")
        many = min(least if isinstance(least, int) and least > 0 else 1, MAX_ENTRIES)
        if depth >= MAX_DEPTH:
            return []
        options = [*self.ranked[:many], *[None] * many][:many]
        return [self.value(schema.get("items", {}), root, depth + 1, each) for each in options]

    def _number(self, schema: Mapping[str, Any], option: Ranked | None, name: str) -> int | float:
        first = re.search(r"-?\d{1,12}", self.text)
        best = option or (self.ranked[0] if self.ranked else None)
        is_place = best is not None and bool(_NUMBERED & set(words_of(name)))
        value = best.number if best is not None and is_place else int(first[0]) if first else 0
        least, most = schema.get("minimum"), schema.get("maximum")
        low = least if isinstance(least, int) else value
        high = most if isinstance(most, int) else value
        return max(min(value, high), low)

    def _words(self, schema: Mapping[str, Any], option: Ranked | None) -> str:
        most = schema.get("maxLength")
        text = option.reason if option else self._extract()
        return text[: most if isinstance(most, int) and most > 0 else 400]

    def _wanted(self) -> dict[str, Any] | None:
        """Find the schema that an answer in words has to fit."""
        found = _SCHEMA.search(self.text)
        if found is None:
            return None
        try:
            value = msgspec.json.decode(found[1])
        except (msgspec.DecodeError, RecursionError):
            return None
        return dict(mapping(value)) or None

    def _use(self, *, is_required: bool) -> Call | None:
        """Use a tool that fits, once; where a tool has to be used and none fits, the last one, filled as can be."""
        talk = Talk(self.params.messages)
        has_results = any(
            isinstance(block, ToolResultContent) for each in self.params.messages for block in each.blocks
        )
        hits = [] if has_results else self.shelf.search(talk.task, self.today)
        fits = [each for each in hits if each.score >= ENOUGH and not each.filled.missing]
        place = len(talk.uses) + 1
        if fits:
            return Call(f"s{place}", fits[0].tool.name, fits[0].filled.arguments)
        if not is_required:
            return None
        last = list(self.shelf.tools.values())[-1]
        value = self.value(last.input_schema, last.input_schema)
        return Call(f"s{place}", last.name, dict(mapping(value)))

    def _extract(self) -> str:
        """Give the sentences that have most of the words that come again and again, in their order."""
        text = (_texts(self.params) or [""])[-1][:MAX_READ]
        sentences = [each.strip() for each in _SENTENCE.split(text) if each.strip()][:400]
        if self.ranked:
            return f"Of {len(self.ranked)} options I take number {self.ranked[0].number}. {self.ranked[0].reason}"
        if len(sentences) <= MAX_SENTENCES:
            return f"Demo answer, no AI. You said: {text.strip()[:600] or 'nothing'}"
        counts = Counter(word for each in sentences for word in terms(each))
        scores = [sum(counts[word] for word in set(terms(each))) / (len(each.split()) + 5) for each in sentences]
        best = sorted(sorted(range(len(sentences)), key=lambda at: (-scores[at], at))[:MAX_SENTENCES])
        return "Demo answer, no AI. The text says: " + " ".join(sentences[at] for at in best)


def is_sampling(params: CreateMessageParams) -> bool:
    """Tell whether a server asks, not the user: it offers no tools, or tools under their own names."""
    return not any("__" in tool.name or tool.name in OF_HOST for tool in params.tools or [])


def _texts(params: CreateMessageParams) -> list[str]:
    return [
        block.text[:MAX_READ]
        for message in params.messages
        if message.role == "user"
        for block in message.blocks
        if isinstance(block, TextContent)
    ]
