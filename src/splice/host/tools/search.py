"""Finding tools by words: BM25 over names, titles and descriptions, with the words of a name split.

``searchFlights``, ``search_flights`` and ``search-flights`` are found by "search", by "flight" and by "searchflights".
The discovery tools and the demo model search with it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nlargest
from itertools import groupby
from math import log
from typing import TypeAlias

Fields: TypeAlias = Iterable[tuple[str, float]]
"""Texts of a document, each with its weight: a name counts for more than a description."""

MAX_CHARACTERS = 4000
"""How much of each field, and of what is searched for, is read."""

_SATURATION = 1.2
"""BM25's k1: how fast a word that is repeated stops to count."""
_LENGTH = 0.75
"""BM25's b: how much long documents are held back."""

_WORD = re.compile(r"\w+")
_PART = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # written without spaces: each character is a word
    r"|[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_STOP = frozenset(
    _WORD.findall(
        "a an and any are as at be been but by can could did do does for from get has have how i if in into "
        "is it its let may me my no not of on or our please should so some than that the their them then "
        "there these they this those to up us use used uses using want was we were what when where which who "
        "will with would you your"
    )
)


class Index:
    """Documents, each with a key, and the words in them."""

    def __init__(self, documents: Iterable[tuple[str, Fields]]) -> None:
        self._keys: list[str] = []
        self._lengths: list[float] = []
        self._found: dict[str, dict[int, float]] = {}
        for number, (key, fields) in enumerate(documents):
            weighed = _weighed(fields)
            self._keys.append(key)
            self._lengths.append(sum(weighed.values()))
            for word, weight in weighed.items():
                self._found.setdefault(word, {})[number] = weight
        self._mean = sum(self._lengths) / len(self._keys) if any(self._lengths) else 1.0

    def search(self, words: str, count: int = 10) -> list[tuple[str, float]]:
        """List the keys of the documents that fit best, each with its score, the best first; equals in their order."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(terms(words)):
            found = self._found.get(word, {})
            rarity = log(1 + (len(self._keys) - len(found) + 0.5) / (len(found) + 0.5))
            for number, weight in found.items():
                held_back = _SATURATION * (1 - _LENGTH + _LENGTH * self._lengths[number] / self._mean)
                scores[number] = scores.get(number, 0.0) + rarity * weight * (_SATURATION + 1) / (weight + held_back)
        best = nlargest(count, scores.items(), key=lambda each: (each[1], -each[0]))
        return [(self._keys[number], score) for number, score in best]


def terms(text: str) -> Iterator[str]:
    """Yield the words of a text as they are indexed: split, small, singular, without those that say nothing."""
    for word in _WORD.findall(text[:MAX_CHARACTERS]):
        yield from _terms(word)


def _weighed(fields: Fields) -> dict[str, float]:
    weighed: dict[str, float] = {}
    for text, weight in fields:
        for word, count in Counter(_WORD.findall(text[:MAX_CHARACTERS])).items():
            for term in _terms(word):
                weighed[term] = weighed.get(term, 0.0) + weight * count
    return weighed


@lru_cache(maxsize=20_000)
def _terms(word: str) -> tuple[str, ...]:
    if len(word) > 200:  # not a word: a key, or Base64
        return ()
    parts = [each.casefold() for each in _PART.findall(word)]
    whole = ["".join(parts)] if len(parts) > 1 else []
    stems = [_singular(each) for each in [*parts, *whole]]
    return tuple(each for each, _ in groupby(stems) if each not in _STOP)


def _singular(word: str) -> str:
    """Cut the s of English plurals, for names of tools say ``flights`` where people say "a flight"."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1]
