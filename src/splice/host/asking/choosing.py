"""Which model a server's sampling gets, and why, so that a person can follow it.

A hint counts first: the first one whose name is part of a model's, or of whose family there is one. Else the server's
priorities weigh the models by a small table. Only models that the user allows the server are chosen.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#model-preferences
"""

import math
import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from splice.host.asked import Weight
from splice.host.models.base import Model
from splice.host.text import one_line
from splice.schema.schemas import cut
from splice.types import ModelPreferences

MAX_HINTS = 20
MAX_HINT = 100


class Standing(Struct, frozen=True):
    """How a model stands, from 0 to 1: the higher, the cheaper, quicker, more able."""

    cost: float
    speed: float
    intelligence: float


FAMILIES: dict[str, Standing] = {
    "demo": Standing(1.0, 1.0, 0.05),
    "opus": Standing(0.2, 0.4, 0.95),
    "sonnet": Standing(0.5, 0.6, 0.85),
    "haiku": Standing(0.8, 0.9, 0.6),
    "nano": Standing(0.95, 0.95, 0.4),
    "mini": Standing(0.85, 0.85, 0.6),
    "flash": Standing(0.85, 0.9, 0.65),
    "gemini": Standing(0.5, 0.6, 0.85),
    "gpt": Standing(0.4, 0.5, 0.9),
    "mistral": Standing(0.7, 0.7, 0.6),
    "deepseek": Standing(0.8, 0.5, 0.75),
    "llama": Standing(0.8, 0.5, 0.4),
    "qwen": Standing(0.8, 0.5, 0.5),
    "gemma": Standing(0.8, 0.6, 0.4),
    "phi": Standing(0.85, 0.7, 0.35),
}
"""By a word in a model's name; the first that is there counts. Rough on purpose: it only orders what is set up."""

OTHER = Standing(0.5, 0.5, 0.5)


class Choice(Struct, frozen=True):
    """A model for a server."""

    model: str
    """Its id."""
    models: list[str]
    """What the user may choose instead."""
    why: str
    """One sentence."""
    weights: list[Weight] = []


def choose(
    server: str, wishes: ModelPreferences | None, models: Sequence[Model], *, allowed: Collection[str], own: str
) -> Choice:
    """Choose a model for a server; `allowed` are ids, empty for all; `own` is the model of the user's own turns.

    Raises `LookupError` with a sentence if there is none.
    """
    candidates = [each for each in models if not allowed or each.id in allowed]
    name = one_line(server)
    if not candidates:
        raise LookupError(f"No model is set up that {name} may use.")
    ids = [each.id for each in candidates]
    usual = next((each for each in candidates if each.id == own), candidates[0])
    hints = [hint.name for hint in (wishes.hints if wishes and wishes.hints else [])[:MAX_HINTS] if hint.name]
    for hint in hints:
        if found := _hinted(hint, candidates, usual):
            return Choice(found.id, ids, f"{name} hints at {_quoted(hint)}, and {one_line(found.label)} fits.")
    missed = f"{name} hints at {_quoted(hints[0])}, which is not set up for it. " if hints else ""
    priorities = _priorities(wishes)
    if not any(priorities):
        why = "It states no priorities" if hints else f"{name} states no wishes"
        return Choice(usual.id, ids, f"{missed}{why}, so {one_line(usual.label)} is used.")
    scores = {each.id: _score(each, priorities) for each in models}
    best = max(candidates, key=lambda each: (scores[each.id], each is usual))
    weights = [_weighed(each, priorities, scores[each.id], each is best) for each in models]
    why = f"{missed}Its priorities decide: {one_line(best.label)} scores {scores[best.id]:.2f}."
    better = max(models, key=lambda each: scores[each.id])
    if scores[better.id] > scores[best.id]:
        why = f"{missed}{one_line(better.label)} scores higher, but you do not allow {name} to use it."
    return Choice(best.id, ids, why, weights)


def _hinted(hint: str, candidates: Sequence[Model], usual: Model) -> Model | None:
    """Find the model that a hint is about; of several the user's own, else the first."""
    wanted = _plain(hint)
    exact = [each for each in candidates if wanted and wanted in _plain(f"{each.id} {each.label}")]
    families = [word for word in FAMILIES if word in wanted.split()]
    related = [each for each in candidates if families and _family(each) == families[0]]
    found = exact or related
    return usual if usual in found else found[0] if found else None


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[a-z]+|\d+", name[:MAX_HINT].lower()))


def _family(model: Model) -> str:
    words = _plain(model.id).split()
    return next((word for word in FAMILIES if word in words), "")


def _standing(model: Model) -> Standing:
    found = FAMILIES.get(_family(model), OTHER)
    return Standing(1.0, found.speed, found.intelligence) if model.where == "on this computer" else found


def _priorities(wishes: ModelPreferences | None) -> tuple[float, float, float]:
    if wishes is None:
        return 0.0, 0.0, 0.0
    given = (wishes.cost_priority, wishes.speed_priority, wishes.intelligence_priority)
    cost, speed, intelligence = (
        min(max(each or 0.0, 0.0), 1.0) if math.isfinite(each or 0.0) else 0.0 for each in given
    )
    return cost, speed, intelligence


def _parts(model: Model, priorities: tuple[float, float, float]) -> list[tuple[float, float, str]]:
    standing = _standing(model)
    values = (standing.cost, standing.speed, standing.intelligence)
    return list(zip(priorities, values, ("cost", "speed", "intelligence"), strict=True))


def _score(model: Model, priorities: tuple[float, float, float]) -> float:
    return round(sum(priority * value for priority, value, _ in _parts(model, priorities)), 4)


def _weighed(model: Model, priorities: tuple[float, float, float], score: float, is_best: bool) -> Weight:
    """Say how a model was weighed."""
    parts = [(word, priority, value) for priority, value, word in _parts(model, priorities) if priority]
    return Weight(model.label, score, is_best, parts)


def _quoted(hint: str) -> str:
    return cut(one_line(hint), MAX_HINT)
