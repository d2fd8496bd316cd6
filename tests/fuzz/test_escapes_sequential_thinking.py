"""Thoughts: whatever they hold, a history stays within its bounds and a box within its lines."""

from hypothesis import strategies as st

from fuzz.fuzzing import fuzz
from splice.servers.sequential_thinking.drawing import box
from splice.servers.sequential_thinking.histories import History, Thought

ANY = st.text(max_size=30) | st.text("\x00\x07\x1b[]2J\r\n\t\u2028\u202e\u200bé漢 ", max_size=200)
NUMBER = st.integers(1, 2**53 - 1)
THOUGHT = st.builds(
    Thought,
    thought=ANY,
    nextThoughtNeeded=st.booleans(),
    thoughtNumber=NUMBER,
    totalThoughts=NUMBER,
    isRevision=st.none() | st.booleans(),
    revisesThought=st.none() | NUMBER,
    branchFromThought=st.none() | NUMBER,
    branchId=st.none() | ANY,
)


@fuzz(thought=THOUGHT)
def test_a_box_obeys_nothing(thought: Thought) -> None:
    lines = box(thought).split("\n")
    assert all(each.isprintable() for each in lines)
    assert len({len(each) for each in lines[1:-1]}) == 1
    assert len(lines) < 30


@fuzz(thoughts=st.lists(THOUGHT, max_size=8))
def test_a_history_counts_all_and_keeps_the_last(thoughts: list[Thought]) -> None:
    history = History()
    for thought in thoughts:
        history.add(thought)
    assert history.length == len(thoughts)
    assert list(history.thoughts) == thoughts
    assert set(history.branches) == {each.branchId for each in thoughts if each.branchId and each.branchFromThought}
