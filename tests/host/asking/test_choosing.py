"""Which model a server gets, and the sentence that says why."""

from collections.abc import AsyncIterator

import pytest
from msgspec import Struct

from splice.host.asked import Weight
from splice.host.asking.choosing import choose
from splice.host.models.base import ModelEvent, Stop
from splice.types import CreateMessageParams, ModelHint, ModelPreferences
from support.tables import rows


class Named(Struct, frozen=True):
    id: str
    label: str
    where: str = "api.example.com"
    provider: str = "openai"
    is_ai: bool = True
    window: int = 1000

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        del params
        yield Stop("endTurn")


DEMO = Named("demo", "Demo model", "on this computer", "demo", is_ai=False)
LLAMA = Named("local/llama3.1:8b", "llama-8b", "on this computer", "local")
SONNET = Named("anthropic/claude-sonnet-4-5", "Sonnet")
OPUS = Named("anthropic/claude-opus-4", "Opus")
MINI = Named("openai/gpt-5-mini", "GPT mini")
ODD = Named("x/y", "Y")
ALL = [DEMO, LLAMA, SONNET, OPUS, MINI, ODD]


def _wish(*hints: str, cost: float = 0, speed: float = 0, intelligence: float = 0) -> ModelPreferences:
    return ModelPreferences(
        hints=[ModelHint(name=each) for each in hints],
        cost_priority=cost,
        speed_priority=speed,
        intelligence_priority=intelligence,
    )


@rows(
    ("wishes", "chosen", "why"),
    [
        (None, DEMO, "travel states no wishes, so Demo model is used."),
        (_wish(), DEMO, "travel states no wishes, so Demo model is used."),
        (_wish("claude-sonnet"), SONNET, "travel hints at claude-sonnet, and Sonnet fits."),
        (_wish("CLAUDE-SONNET-4.5"), SONNET, "travel hints at CLAUDE-SONNET-4.5, and Sonnet fits."),
        (_wish("claude-3-5-sonnet"), SONNET, "travel hints at claude-3-5-sonnet, and Sonnet fits."),
        (_wish("gpt-4o-mini"), MINI, "travel hints at gpt-4o-mini, and GPT mini fits."),
        (_wish("gemini-2", "opus"), OPUS, "travel hints at opus, and Opus fits."),
        (_wish("claude", cost=1), SONNET, "travel hints at claude, and Sonnet fits."),
        (
            _wish("gemini"), DEMO,
            "travel hints at gemini, which is not set up for it. It states no priorities, so Demo model is used.",
        ),
        (_wish(intelligence=1), OPUS, "Its priorities decide: Opus scores 0.95."),
        (_wish(cost=1), DEMO, "Its priorities decide: Demo model scores 1.00."),
        (_wish(cost=0.3, intelligence=0.9), SONNET, "Its priorities decide: Sonnet scores 0.9"),
        (_wish(cost=-5, speed=9e300), DEMO, "Its priorities decide: Demo model scores 1.00."),
        (_wish("", "\x1b[2J" + "x" * 500), DEMO, "travel hints at \\x1b[2Jxxx"),
    ],
)  # fmt: skip
def test_hints_first_then_priorities_then_the_users_own(
    wishes: ModelPreferences | None, chosen: Named, why: str
) -> None:
    choice = choose("travel", wishes, ALL, allowed=[], own="demo")
    assert choice.model == chosen.id
    assert choice.why.startswith(why)
    assert choice.models == [each.id for each in ALL]


def test_only_what_the_user_allows_is_chosen_and_the_sum_is_shown() -> None:
    wishes = _wish("claude-3-5-sonnet", cost=0.3, speed=0.2, intelligence=0.9)
    choice = choose("travel", wishes, [DEMO, LLAMA], allowed=["demo"], own="demo")
    assert (choice.model, choice.models) == ("demo", ["demo"])
    assert choice.why == (
        "travel hints at claude-3-5-sonnet, which is not set up for it. "
        "llama-8b scores higher, but you do not allow travel to use it."
    )
    assert choice.weights == [
        Weight("Demo model", 0.545, True, [("cost", 0.3, 1), ("speed", 0.2, 1), ("intelligence", 0.9, 0.05)]),
        Weight("llama-8b", 0.76, False, [("cost", 0.3, 1), ("speed", 0.2, 0.5), ("intelligence", 0.9, 0.4)]),
    ]


def test_equal_models_are_decided_by_the_users_own() -> None:
    same = Named("x/z", "Z")
    assert choose("travel", _wish(cost=1), [ODD, same], allowed=[], own="x/z").model == "x/z"


def test_no_model_is_said() -> None:
    with pytest.raises(LookupError, match="No model is set up that travel may use"):
        choose("travel", None, ALL, allowed=["other"], own="demo")
