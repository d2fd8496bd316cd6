"""`bench/soak.py` in short: all faults at least once, and a leak or a wrong answer makes it complain."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from bench.soaking.hostile import Proxy
from bench.soaking.ledger import Crossed, Round, Vitals, complaints, expect, schedule
from bench.soaking.proxied import Load

COMMAND = [sys.executable, str(Path(__file__).parents[2] / "bench" / "soak.py")]
QUIET = Vitals(rss=50.0, fds=8, threads=1, tasks=1, children=0, objects={"Session": 1})


@pytest.mark.parametrize("transport", ["http", "stdio", "memory", "proxied"])
@pytest.mark.timeout(300)  # a machine may be busy: it takes 10 s on one that is not
def test_a_short_soak_leaves_nothing_over(transport: str) -> None:
    options = ["--calls", "200", "--rounds", "2"]
    done = subprocess.run([*COMMAND, transport, *options], capture_output=True, text=True, timeout=290, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing left over, all answered" in done.stdout
    assert all(done.stdout.count(f"\n{kind} ") == 1 for kind in ("right", "unanswered", "crossed", "rss", "fds"))


def ended(kind: str = "right", **vitals: object) -> Round:
    one = Round(vitals=replace(QUIET, **vitals))  # type: ignore[arg-type]  # the fields of Vitals
    one.count(kind)
    return one


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        ([ended(), ended("unanswered")], "round 2: 1 unanswered"),
        ([ended("crossed"), ended()], "round 1: 1 crossed"),
        ([ended("wrong"), ended()], "round 1: 1 wrong"),
        ([ended(), ended(fds=9)], "round 2: 1 fds left over"),
        ([ended(tasks=3), ended()], "round 1: 2 tasks left over"),
        ([ended(children=1), ended()], "round 1: 1 children left over"),
        ([ended(threads=30), ended()], "round 1: 29 threads left over"),
        ([ended(), ended(objects={"Session": 11})], "round 2: 10 objects of Session left over"),
        ([ended(rss=60.0), ended(rss=70.0), ended(rss=80.0)], "memory grows: 60.0 MB after the first round, 80.0"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_must_not_be_is_complained_of(rounds: list[Round], complaint: str) -> None:
    (found,) = complaints(QUIET, rounds)
    assert found.startswith(complaint)


def test_small_things_made_once_are_no_leak() -> None:
    assert not complaints(QUIET, [ended(rss=60.0, threads=9), ended(rss=62.0, threads=10, objects={"Session": 3})])


def test_a_block_is_judged_by_what_it_raises() -> None:
    one = Round()
    for error in (TimeoutError(), Crossed(), OSError("gone")):
        with one.judged():
            raise error
    with one.judged():
        expect("mine", "mine")
    with one.judged():
        expect("mine", "yours")
    assert one.ended == {"unanswered": 1, "crossed": 2, "wrong": 1}
    assert one.examples["wrong"] == "OSError: gone"


async def test_a_call_that_ran_twice_or_never_is_complained_of(tmp_path: Path) -> None:
    one, file = Round(), tmp_path / "counted"
    file.write_text("0/1\n0/2\n1/3\n0/2\n")
    load = Load(one, Proxy(0, 0), 3, 0)
    load.answered = {"0/1", "0/2", "0/4"}
    load.audit(file)
    assert one.ended == {"repeated": 1, "wrong": 1}


def test_every_act_has_its_share_and_at_least_one_call() -> None:
    acts = schedule({"often": 90.0, "seldom": 0.001}, 100, seed=1)
    assert sorted(acts) == ["often"] * 90 + ["seldom"]
    assert acts == schedule({"often": 90.0, "seldom": 0.001}, 100, seed=1)
