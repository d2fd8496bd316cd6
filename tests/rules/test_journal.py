"""The journal: what a re-run of a handler finds again."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from splice.errors import InvalidParams, LocalProtocolError
from splice.protocol.jsonrpc import raw
from splice.protocol.questions import InputRequest
from splice.rules.journal import Journal

ELICIT = "elicitation/create"
PLAIN = InputRequest(method=ELICIT, params=raw({}))


def again(journal: Journal, answers: dict[str, Any] | None = None) -> Journal:
    """Make the journal of the next round: written down, brought back, with answers beside it."""
    responses = {key: raw(value) for key, value in (answers or {}).items()}
    return Journal(journal.write(), responses)


class Unanswered(Exception):
    """A run of a handler that ends with a question."""


def ask(journal: Journal, key: str, question: Any = "?") -> Any:
    """Ask as a handler does: find the answer, or end the run."""
    found = journal.find(key, InputRequest(method=ELICIT, params=raw({"message": question})))
    if found is None:
        raise Unanswered(key)
    return json.loads(bytes(found))


def test_the_next_run_finds_the_answer_and_so_does_every_later_one() -> None:
    journal = Journal()
    with pytest.raises(Unanswered):
        ask(journal, "name")
    journal = again(journal, {"name": "Ada"})
    assert ask(journal, "name") == "Ada"
    assert ask(journal, "name") == "Ada"
    with pytest.raises(Unanswered):
        ask(journal, "age")
    journal = again(journal, {"age": 36})
    assert (ask(journal, "name"), ask(journal, "age")) == ("Ada", 36)


def test_keys_are_given_or_count() -> None:
    journal = Journal()
    assert [journal.key(None), journal.key("mine"), journal.key(None)] == ["q1", "mine", "q2"]


def test_every_run_counts_from_the_beginning() -> None:
    journal = Journal()
    assert [journal.key(None), journal.key(None)] == ["q1", "q2"]
    journal.rewind()
    assert journal.key(None) == "q1"


def test_an_answer_that_comes_again_changes_nothing() -> None:
    journal = Journal()
    with pytest.raises(Unanswered):
        ask(journal, "name")
    journal = again(journal, {"name": "Ada"})
    ask(journal, "name")
    journal = again(journal, {"name": "Eve"})
    assert ask(journal, "name") == "Ada"
    assert ask(again(journal), "name") == "Ada"


def test_another_question_under_the_same_key_is_asked_anew() -> None:
    journal = Journal()
    with pytest.raises(Unanswered):
        ask(journal, "q1", "delete a?")
    journal = again(journal, {"q1": "yes"})
    with pytest.raises(Unanswered):
        ask(journal, "q1", "delete everything?")
    journal = again(journal, {"q1": "no"})
    assert ask(journal, "q1", "delete everything?") == "no"


def test_another_method_is_another_question() -> None:
    journal = Journal()
    assert journal.find("q1", PLAIN) is None
    journal = again(journal, {"q1": 1})
    assert journal.find("q1", InputRequest(method="roots/list", params=PLAIN.params)) is None


def test_what_was_answered_after_a_changed_question_is_forgotten_and_named(caplog: pytest.LogCaptureFixture) -> None:
    journal = Journal()
    for key, value in (("first", 1), ("second", 2), ("third", 3)):
        with pytest.raises(Unanswered):
            ask(journal, key)
        journal = again(journal, {key: value})
        assert ask(journal, key) == value
    with pytest.raises(Unanswered):
        ask(journal, "second", "changed")
    named = "another question is asked under the key 'second': dropped the answers to ['second', 'third']"
    assert caplog.messages == [named]
    assert ask(journal, "first") == 1
    with pytest.raises(Unanswered):
        ask(journal, "third")


def test_an_answer_that_came_for_the_old_question_does_not_count_for_the_new_one() -> None:
    journal = Journal()
    with pytest.raises(Unanswered):
        ask(journal, "q1", "old")
    journal = again(journal, {"q1": "to the old one"})
    with pytest.raises(Unanswered):
        ask(journal, "q1", "new")
    journal = again(journal)
    with pytest.raises(Unanswered):
        ask(journal, "q1", "new")


@pytest.mark.requirement(231)
def test_answers_nobody_asked_for_are_ignored() -> None:
    journal = Journal(None, {"bogus": raw(1)})
    with pytest.raises(Unanswered):
        ask(journal, "name")
    assert again(journal, {"bogus": raw(2)}).page.answers == {}


@pytest.mark.requirement(231)
def test_answers_may_come_before_they_are_asked_for() -> None:
    """A client that knows what a request asks need not wait for it."""
    journal = Journal(None, {"bogus": raw(1), "name": raw("Ada")})
    assert ask(journal, "name") == "Ada"
    assert again(journal).page.answers == {"name": raw("Ada")}


def test_a_question_returned_again_wants_another_answer() -> None:
    question = {"name": InputRequest(method=ELICIT, params=raw({"message": "Name?"}))}
    journal = Journal()
    journal.leave(question, "first")
    journal = again(journal, {"name": "taken"})
    assert journal.page.answers == {"name": raw("taken")}
    journal.leave(question, "second")
    assert journal.page.answers == again(journal).page.answers == {}
    assert again(journal, {"name": "free"}).page.answers == {"name": raw("free")}


def test_several_questions_at_once_keep_the_answers_they_get() -> None:
    journal = Journal()
    questions = {key: InputRequest(method=ELICIT, params=raw({"message": "?"})) for key in "ab"}
    journal.leave(questions | {"c": InputRequest(method="roots/list")}, "step 2")
    journal = again(journal, {"a": 1, "b": 2, "x": 3})
    assert journal.page.note == "step 2"
    assert journal.page.answers == {"a": raw(1), "b": raw(2)}
    assert again(journal).page.answers == {"a": raw(1), "b": raw(2)}
    assert again(journal).page.note == "step 2"
    assert ask(again(journal), "a") == 1


@pytest.mark.parametrize("params", [None, raw({"message": "?"})])
def test_a_question_returned_by_hand_is_the_same_as_one_that_is_asked(params: Raw | None) -> None:
    journal = Journal()
    journal.leave({"k": InputRequest(method=ELICIT, params=params)}, "")
    assert again(journal, {"k": 1}).find("k", InputRequest(method=ELICIT, params=params)) == raw(1)


def test_a_side_effect_is_recalled() -> None:
    journal = Journal()
    assert journal.page.done.get("pay") is None
    assert json.loads(bytes(journal.record("pay", {"receipt": 7}))) == {"receipt": 7}
    recalled = again(journal).page.done.get("pay")
    assert isinstance(recalled, Raw)
    assert json.loads(bytes(recalled)) == {"receipt": 7}


def test_a_side_effect_without_a_result_is_recalled_too() -> None:
    journal = Journal()
    journal.record("pay", None)
    assert again(journal).page.done.get("pay") is not None


@pytest.mark.parametrize("state", [b"", b"x", b"[]", b'{"q":1}', b'{"a":[]}', b"\xff", b'{"n":"\xff"}'])
def test_a_state_that_is_not_ours_is_refused(state: bytes) -> None:
    with pytest.raises(InvalidParams):
        Journal(state, None)


def test_without_state_and_answers_the_journal_is_empty() -> None:
    journal = Journal(None, None)
    assert (journal.page.answers, journal.page.note) == ({}, "")
    assert journal.write() == b"{}"


KEYS = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(st.tuples(KEYS, st.integers(0, 2)), max_size=6), st.data())
def test_a_handler_that_asks_the_same_always_comes_to_its_end(
    script: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Whatever it asks, in any order, an answer is only ever taken for the question it was given to."""
    questions = dict(script)
    journal = Journal()
    for _ in range(len(questions) + 1):
        answered: list[str] = []
        try:
            for key, question in questions.items():
                assert ask(journal, key, question) == f"{key}{question}"
                answered.append(key)
        except Unanswered as unanswered:
            (key,) = unanswered.args
            assert key not in answered
            extra = data.draw(st.dictionaries(st.sampled_from(["x", "y"]), st.integers(), max_size=2))
            journal = again(journal, {**extra, key: f"{key}{questions[key]}"})
        else:
            break
    else:
        pytest.fail("it never ended")


def test_two_questions_under_one_key_in_one_run_are_a_mistake() -> None:
    journal = Journal()
    with pytest.raises(Unanswered):
        ask(journal, "q", "a")
    journal = again(journal, {"q": 1})
    assert ask(journal, "q", "a") == 1
    assert ask(journal, "q", "a") == 1
    with pytest.raises(LocalProtocolError, match="'q'"):
        ask(journal, "q", "b")


def test_an_answer_in_the_middle_of_a_run_is_found_by_the_next_one() -> None:
    journal = Journal()
    assert journal.find("q1", PLAIN) is None
    journal.page.answers["q1"] = raw("yes")
    journal.rewind()
    assert journal.find("q1", PLAIN) == raw("yes")
    journal.rewind()
    assert journal.find("q1", InputRequest(method=ELICIT, params=raw({"message": "another"}))) is None
