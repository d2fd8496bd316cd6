"""What a call shows of its time, and what the log says of how it was decided."""

from pathlib import Path
from typing import Any

import pytest

from host.hosting import asked, call, calls, hosting, run
from splice import Context, Server
from splice.host.asked import Approval, Asked, Decision, Filled, Form, ResultReview, RootsAsked
from splice.host.asking.stopwatches import Stopwatch, Stopwatches
from splice.host.config.reading import entry_of
from splice.host.host import Host


class Clock:
    """A clock that somebody sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("splice.host.asking.stopwatches.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def desk() -> Server:
    server = Server("desk")

    @server.tool
    async def sign(ctx: Context) -> str:
        """Let the user sign, in one of their folders."""
        answer = await ctx.elicit("Sign", {"type": "object", "properties": {"name": {"type": "string"}}})
        return f"{answer.action} in {len(await ctx.roots())}"

    return server


def log(host: Host) -> dict[str, Any]:
    (record,) = host.activity.read(kind="call")
    return record.facts


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
def test_the_time_that_the_user_takes_is_not_shown_as_the_calls(tmp_path: Path, clock: Clock, protocol: str) -> None:
    entry = entry_of("desk", {"command": "true", "x-splice": {"protocol": protocol}})

    async def main() -> None:
        async with hosting(tmp_path, {}, {"call": [call("desk__sign")]}, {"say": "So."}, roots=[tmp_path]) as host:
            host.add_entry(entry, desk())
            await host.set("reviews_results", value=True)
            await host.say("go")
            answers: list[tuple[type[Asked], Any]] = [
                (Approval, Decision("once")),
                (Form, Filled("accept", {"name": "Anna"})),
                (RootsAsked, Filled("accept", {"uris": [tmp_path.as_uri()]})),
                (ResultReview, Decision("once")),
            ]
            for kind, answer in answers:
                (question,) = await asked(host, kind)
                shown = calls(host)[0]
                assert (shown.began == 0) == (kind in (Form, RootsAsked))  # no face counts on
                clock.now += 10
                host.answer(question.id, answer, "program")
            await host.wait()
            (shown,) = calls(host)
            assert shown.result[0].text == "accept in 1"
            assert shown.seconds == 0
            assert shown.began > 0
            assert (log(host)["seconds"], log(host)["whole"], log(host)["waited"]) == (0, 40, 40)

    run(main())


def test_two_questions_at_once_are_one_wait_and_those_of_others_are_none(clock: Clock) -> None:
    watches, changes = Stopwatches(), list[bool]()
    watch = Stopwatch("call:1", lambda: "desk", lambda: changes.append(watch.is_stopped))
    watches.add(watch)
    assert watch.seconds is None
    with watches.stopped("desk", ""):  # it does not run yet: this is about another call of the server
        clock.now += 1
    watch.run()
    with watches.stopped("desk", "call:2"), watches.stopped("other", ""), watches.stopped("", ""):
        clock.now += 2
    with watches.stopped("desk", ""):
        clock.now += 4
        with watches.stopped("desk", "call:1"):
            clock.now += 8
        assert [watch.seconds, watch.waited] == [2, 12]
    clock.now += 16
    watch.end()
    clock.now += 32
    assert [watch.seconds, watch.waited, watch.whole] == [18, 12, 63]
    assert changes == [True, False]


def test_a_denied_call_is_logged_as_denied_and_took_no_time(tmp_path: Path, clock: Clock) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {"desk": desk()}, {"call": [call("desk__sign")]}, {"say": "So."}) as host:
            await host.say("go")
            (question,) = await asked(host, Approval)
            clock.now += 2.9
            host.answer(question.id, Decision("deny", "not now"), "web")
            await host.wait()
            shown, facts = calls(host)[0], log(host)
            assert shown.seconds is None
            assert {"seconds", "allowed"} & set(facts) == set()
            assert (facts["state"], facts["decision"], facts["waited"]) == ("denied", "denied", 2.9)
            assert facts["trail"] == ["the policy: Asked: no rule", "you, in the browser: Denied: not now"]

    run(main())


def test_a_call_that_a_rule_allowed_is_logged_with_the_rule(tmp_path: Path) -> None:
    server = Server("desk")

    @server.tool
    def wipe() -> str:
        """Wipe the desk."""
        return "wiped"

    async def main() -> None:
        async with hosting(tmp_path, {"desk": server}, {"call": [call("desk__wipe")]}, {"say": "So."}) as host:
            rule = host.permissions.grant("allow", "desk/*")
            await host.say("go")
            await host.wait()
            assert (log(host)["decision"], log(host)["rule"]) == ("allowed", rule.id)
            assert "waited" not in log(host)
            assert log(host)["trail"] == ["the policy: Allowed: a rule allows desk/*"]

    run(main())
