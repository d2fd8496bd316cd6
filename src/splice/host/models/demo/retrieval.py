"""Which tool a sentence means: by its words, and by what it has for the tool's arguments."""

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from splice.host.models.demo.fields import fields_of, words_in, words_of
from splice.host.models.demo.finding import PATH, Sentence
from splice.host.models.demo.slots import Filled, fill
from splice.host.tools.search import Index, terms
from splice.types import Tool

CONSIDERED = 6
"""How many tools are tried with the sentence."""

ENOUGH = 0.5
"""The share of a sentence's words that a tool has to know, counted by how rare they are among the tools."""

OF_HOST = frozenset({"ask_user", "read_resource", "read_more", "search_tools", "describe_tool", "call_tool"})
"""The host's own tools: no sentence means them."""

LACK, LACK_IN_CHAIN = 3.0, 0.8
"""How much each missing argument speaks against a tool; less where earlier results may have it."""

NEVER = 100.0
"""What keeps a tool that changes something from being taken for one that looks."""

_SAME: tuple[frozenset[str], ...] = tuple(
    words_in(words)
    for words in (
        "read show open look view display see print cat",
        "list show which",
        "directory folder dir",
        "image picture photo media",
        "email mail message",
        "create make add new enter put mark schedule",
        "delete remove forget erase drop",
        "cancel delete remove",
        "large big size",
        "know remember memory node entity",
        "page web url fetch download get website",
        "switch checkout",
        "flight fly plane",
        "hotel stay room accommodation",
        "weather rain forecast temperature sunny snow",
        "free available",
        "rename move",
        "find search look",
        "best cheapest recommend compare",
        "time clock",
        "commit commits history lately log",
        "info large size permission",
        "book reserve",
        "calendar event appointment meeting",
    )
)
_VAGUE = words_in("check show find get look see tell give want need like can please")
_SPECIAL = words_in("best cheapest all")
_LABELS = words_in("about saying named called titled regarding says")
_KINDS = {
    "image": words_in("png jpg jpeg gif webp svg bmp"),
    "sound": words_in("mp3 wav ogg flac"),
    "text": words_in("txt md log py js ts json jsonl tsv toml yaml yml ini cfg csv html css xml rst sh"),
}
_OLD = re.compile(r"\b(?:deprecated|obsolete|old name)\b", re.IGNORECASE)
_READS = words_in("read show list look view see find search get what which how where when check tell is are will")
_CHANGES = words_in(
    "create make add put mark enter schedule delete remove forget cancel book reserve send mail email write move "
    "rename commit stage set edit"
)


class Hit(NamedTuple):
    """A tool that a sentence may mean."""

    tool: Tool
    score: float
    """0 to 1: the share of the sentence's words that it knows."""
    filled: Filled


class Shelf:
    """Tools, indexed by words."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self._index = Index((tool.name, _fields(tool)) for tool in tools if tool.name not in OF_HOST)
        self._words = {tool.name: _known_words(tool) for tool in tools}
        self._names = {tool.name: set(terms(f"{tool.name.rpartition('__')[2]} {tool.title or ''}")) for tool in tools}
        self._bare = {name.rpartition("__")[2].casefold(): name for name in self.tools}

    def named_in(self, text: str) -> Tool | None:
        """Find the tool that a text calls by its name: ``bookTrip``, ``git_status``."""
        for word in re.findall(r"[A-Za-z][\w.-]{3,127}", text[:2000]):
            name = self._bare.get(word.casefold().rstrip("."), "")
            if word in self.tools or (name and (len(words_of(word)) > 1 or "_" in word)):
                return self.tools[word if word in self.tools else name]
        return None

    def called(self, name: str) -> Tool | None:
        """Find a tool by a name as it is typed: ``server.tool``, ``server/tool``, ``tool``."""
        wanted = re.sub(r"[./:]", "__", name, count=1)
        for key in (name, wanted):
            for known in self.tools:
                if known.casefold() == key.casefold():
                    return self.tools[known]
        bare = [known for known in self.tools if known.rpartition("__")[2].casefold() == name.casefold()]
        return self.tools[bare[0]] if len(bare) == 1 else None

    def search(self, text: str, today: date, lack: float = LACK) -> list[Hit]:
        """List the tools that a sentence may mean, the best first; each argument that it lacks costs one `lack`."""
        if named := self.named_in(text):
            return [Hit(named, 1.0, fill(named, text, today))]
        wanted = _wanted(text, today)
        near = " ".join(
            other for word in wanted if word not in _VAGUE for same in _SAME if word in same for other in sorted(same)
        )
        meant = " ".join(word for word in wanted if word not in _VAGUE)
        scores: dict[str, float] = {}
        for words, weight in ((meant, 1.0), (near, 0.6), (" ".join(wanted), 0.2)):
            for name, score in self._index.search(words, CONSIDERED * 2):
                scores[name] = scores.get(name, 0.0) + weight * score
        tried = sorted(scores, key=lambda name: (-scores[name], name))[:CONSIDERED]
        hits = [
            self._hit(
                self.tools[name],
                fill(self.tools[name], text, today),
                wanted,
                scores[name] + self._fits_verb(self.tools[name], text),
                lack,
            )
            for name in tried
        ]
        hits.sort(key=lambda each: -each[0])
        return [hit for rank, hit in hits if rank > -NEVER / 2]

    def _hit(self, tool: Tool, filled: Filled, wanted: list[str], score: float, lack: float) -> tuple[float, Hit]:
        name = tool.name
        unsaid = [word for word in self._names[name] if not (word in wanted or self._near(word) & set(wanted))]
        rank = (
            score + 1.5 * (filled.used - filled.left) - 0.3 * min(len(unsaid), 3) - 0.8 * bool(_SPECIAL & set(unsaid))
        )
        rank -= sum(lack / 2 if each.choices else lack for each in filled.missing)
        rank += 0.8 * sum(not each.is_required and each.name in filled.arguments for each in fields_of(tool))
        rank -= 1.5 * ("directory" in self._names[name] and bool(set(wanted) & set(_KINDS)))
        rank -= 2.0 * bool(_OLD.search(tool.description or ""))
        return rank, Hit(tool, self._known(name, wanted, filled), filled)

    def _near(self, word: str) -> set[str]:
        return {other for same in _SAME if word in same for other in same}

    def _fits_verb(self, tool: Tool, text: str) -> float:
        """Weigh whether the sentence asks to look or to change, and the tool does that."""
        spoken = re.findall(r"[a-z]+", text.casefold())[:3]
        hints = tool.annotations
        if hints is None or hints.read_only_hint is None or not spoken:
            return 0.0
        looks, changes = spoken[0] in _READS, any(word in _CHANGES for word in spoken[:2])
        if looks and not changes:
            return 1.5 if hints.read_only_hint else -NEVER
        return (-1.5 if hints.read_only_hint else 1.0) if changes else 0.0

    def _known(self, name: str, wanted: list[str], filled: Filled) -> float:
        """Tell how much of a sentence a tool explains: by its words, and by the arguments that it takes."""
        left = set(terms(filled.rest))
        words, names = self._words[name], self._names[name]
        known = total = 0.0
        for word in wanted:
            if word not in left or word.isdigit() or word in _LABELS:
                continue
            near, weight = self._near(word), 0.3 if word in _VAGUE else 1.0
            total += weight
            known += weight * (1 if word in names or near & names else 0.7 if word in words or near & words else 0)
        return known / total if total else 0.0


def _wanted(text: str, today: date) -> list[str]:
    """List the words that say what to do; the ending of a file says of what kind it is."""
    sentence = Sentence(text, today)
    endings = {path.rpartition(".")[2].casefold() for path in PATH.findall(sentence.text) if "." in path}
    kinds = [kind for kind, known in _KINDS.items() if endings & known]
    return list(dict.fromkeys([*terms(sentence.request()), *kinds]))


def _known_words(tool: Tool) -> set[str]:
    spoken = " ".join(word for each in fields_of(tool) for word in each.words)
    return set(terms(" ".join([spoken, *(text for text, _ in _fields(tool))])))


def _fields(tool: Tool) -> list[tuple[str, float]]:
    arguments = " ".join(f"{each.name}" for each in fields_of(tool))
    server, _, name = tool.name.rpartition("__")
    return [(name, 3.0), (tool.title or "", 1.5), (tool.description or "", 1.0), (arguments, 0.5), (server, 1.0)]
