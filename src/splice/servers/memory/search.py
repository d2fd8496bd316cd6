"""Search: the entities that contain a query, the best first.

An entity is found as by the original: its name, its type or one of its observations contains the query, in upper or
lower case. Where no entity contains a query of several words as it stands, those that contain some of the words are
found instead, the rarest words counting most.
"""

import re
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from splice.servers.memory.graph import Entity, Graph

MAX_WORDS = 20
"""How many words of a query are looked for one by one."""

_WORD = re.compile(r"\w")

_BETWEEN = "\n\0\n"
"""Stands between the texts of an entity where they are searched as one."""


class Found(NamedTuple):
    """The entities that were found, and whether they contain words of the query only."""

    entities: Sequence[Entity]
    by_words: bool = False


def search(graph: Graph, query: str) -> Found:
    """Find entities, the best first; in their own order where they are as good."""
    wanted = query.lower()
    if not wanted:
        return Found(list(graph.entities.values()))
    texts = [(entity, _text(entity)) for entity in graph.entities.values()]
    hits = [(entity, text) for entity, text in texts if wanted in text and _contains(entity, wanted)]
    if hits:
        return Found(_sorted([(_score(text, wanted) + _has_whole(text, wanted), each) for each, text in hits]))
    words = list(dict.fromkeys(re.findall(r"\w+", wanted)))[:MAX_WORDS]
    return Found(_by_words(texts, words), by_words=True) if len(words) > 1 else Found(())


def _text(entity: Entity) -> str:
    return _BETWEEN.join((entity.name, entity.entityType, *entity.observations)).lower()


def _contains(entity: Entity, wanted: str) -> bool:
    """Make sure that one text contains the query, if it could be found across two of them."""
    if "\0" not in wanted and "\n" not in wanted:
        return True
    return any(wanted in text.lower() for text in (entity.name, entity.entityType, *entity.observations))


def _has_whole(text: str, wanted: str) -> bool:
    """Tell whether the query stands for itself somewhere, not within a longer word."""
    start = 0
    while (at := text.find(wanted, start)) >= 0:
        start = at + len(wanted)
        if not (_WORD.match(text[at - 1 : at]) or _WORD.match(text[start : start + 1])):
            return True
    return False


def _score(text: str, wanted: str) -> float:
    """Rate an entity that contains the query: by its name, then its type, then how many observations have it."""
    name, kind, *observations = text.split(_BETWEEN)
    score = 0.0
    if wanted in name:
        score = 4.0 * (name == wanted) + 2.0 * name.startswith(wanted) + 2.0 * len(wanted) / len(name)
    if wanted in kind:
        score += 1.5 if kind == wanted else 0.5
    having = len([each for each in observations if wanted in each])
    return score + having / (having + 1 + len(observations) / 8)


def _by_words(texts: Sequence[tuple[Entity, str]], words: Sequence[str]) -> list[Entity]:
    """Find entities by single words, each of which counts by how rare it is, and twice in a name."""
    scores: dict[int, float] = {}
    for word in words:
        having = [place for place, (_, text) in enumerate(texts) if word in text]
        weight = log(1 + len(texts) / (1 + len(having)))
        for place in having:
            scores[place] = scores.get(place, 0) + weight * (1 + (word in texts[place][0].name.lower()))
    return _sorted([(score, texts[place][0]) for place, score in sorted(scores.items())])


def _sorted(rated: list[tuple[float, Entity]]) -> list[Entity]:
    return [entity for _, entity in sorted(rated, key=lambda each: -each[0])]
