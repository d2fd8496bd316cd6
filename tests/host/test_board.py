"""What a face makes of the changes is what is on the board, whenever it looks and whatever it missed."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.host import board as boards
from splice.host.board import Batch, Board
from splice.host.items import Chat, Item, Notice

Act: TypeAlias = Callable[[Board, list["Face"]], None]


class Face:
    """Shows the items of a board, as far as it has looked."""

    def __init__(self) -> None:
        self.number = 0
        self.shown: dict[str, Item] = {}

    def look(self, board: Board) -> None:
        self.take(board.since(self.number))
        assert list(self.shown.values()) == board.all(Item)

    def take(self, batch: Batch) -> None:
        if batch.everything:
            self.shown = {}
        numbers = [event.number for event in batch.events]
        assert numbers == sorted(set(numbers))
        assert all(number <= batch.number for number in numbers)
        for event in batch.events:
            self.shown.pop(event.id, None)
            if event.item is not None:
                self.shown[event.id] = event.item
        self.number = batch.number


def notice(key: int, text: str = "") -> Notice:
    return Notice(id=f"notice:{key}", text=text)


def put(key: int, text: str) -> Act:
    return lambda board, _: board.put(notice(key, text))


def drop(key: int) -> Act:
    return lambda board, _: board.drop(f"notice:{key}")


def look(which: int) -> Act:
    return lambda board, faces: faces[which].look(board)


KEYS = st.integers(0, 4)
ACTS = st.builds(put, KEYS, st.sampled_from("ab")) | st.builds(drop, KEYS) | st.builds(look, st.integers(0, 2))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "PAUSE_SECONDS", 0)
    monkeypatch.setattr(boards, "MAX_GONE", 3)


def made() -> Board:
    async def make() -> Board:
        return Board()

    return asyncio.run(make())


@given(st.lists(ACTS, max_size=40))
def test_the_fold_of_what_a_face_saw_is_the_board(acts: list[Act]) -> None:
    board, faces = made(), [Face() for _ in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boards, "MAX_GONE", 2)
        for act in acts:
            act(board, faces)
        for face in [*faces, Face()]:
            face.look(board)
    assert board.number >= len(board.all(Item))


def test_a_face_that_comes_late_or_missed_steps_gets_the_last_ones_only() -> None:
    board, face = made(), Face()
    for step in range(100):
        board.put(notice(1, str(step)))
    board.put(notice(2))
    batch = board.since(0)
    assert batch.everything
    assert [(event.id, event.number) for event in batch.events] == [("notice:1", 100), ("notice:2", 101)]
    face.look(board)
    for step in range(100):
        board.put(notice(1, f"again {step}"))
    board.drop("notice:2")
    assert [event.number for event in board.since(face.number).events] == [201, 202]
    face.look(board)
    assert board.since(face.number) == Batch(202, [])


def test_a_face_of_another_board_is_told_everything() -> None:
    board = made()
    board.put(notice(1))
    assert board.since(7).everything, "the host was started anew"


def test_what_is_as_it_was_is_no_change() -> None:
    board = made()
    board.put(notice(1, "a"))
    board.put(notice(1, "a"))
    board.change("notice:1", text="a")
    board.drop("notice:2")
    assert board.number == 1


def test_removed_items_are_forgotten_and_a_face_that_was_away_too_long_starts_anew() -> None:
    board, soon, late = made(), Face(), Face()
    for key in range(8):
        board.put(notice(key))
    late.look(board)
    for key in range(7):
        soon.look(board)
        board.drop(f"notice:{key}")
    assert not board.since(soon.number).everything
    assert board.since(late.number).everything
    for face in (soon, late):
        face.look(board)
        assert list(face.shown) == ["notice:7"]


def test_an_item_that_comes_back_is_there() -> None:
    board, face = made(), Face()
    board.put(notice(1))
    face.look(board)
    board.drop("notice:1")
    board.put(notice(1))
    assert [event.item for event in board.since(face.number).events] == [notice(1)]
    face.look(board)


def test_items_are_found_by_id_and_kind() -> None:
    board = made()
    board.put(notice(1, "a"))
    board.put(Chat(id="chat:a", title="A"))
    assert board.get("notice:1", Notice) == notice(1, "a")
    assert board.get("notice:1", Chat) is None
    assert board.get("notice:2", Notice) is None
    assert board.all(Notice) == [notice(1, "a")]
    board.change("notice:1", text="b")
    assert board.all(Item)[-1] == notice(1, "b")
    with pytest.raises(KeyError):
        board.change("notice:2", text="b")


def test_faces_that_watch_see_the_last_state_however_slow_they_are() -> None:
    async def scene() -> None:
        board = Board()
        seen: dict[str, list[int]] = {"quick": [], "slow": []}
        faces = {"quick": Face(), "slow": Face()}
        gate = asyncio.Event()

        async def show(name: str) -> None:
            async for batch in board.watch():
                faces[name].take(batch)
                seen[name].append(batch.number)
                if faces[name].shown.get("chat:end"):
                    return
                if name == "slow":
                    await gate.wait()

        async def act() -> None:
            for step in range(50):
                board.put(notice(step % 5, str(step)))
                await asyncio.sleep(0)
            board.put(Chat(id="chat:end", title="end"))
            gate.set()

        async with asyncio.timeout(5):
            await asyncio.gather(show("quick"), show("slow"), act())
        assert faces["quick"].shown == faces["slow"].shown == {item.id: item for item in board.all(Item)}
        assert len(seen["slow"]) <= 3 < len(seen["quick"])

    asyncio.run(scene())


def test_a_face_that_stops_watching_leaves_nothing_behind() -> None:
    async def scene() -> None:
        board = Board()
        watching = board.watch()
        async with asyncio.timeout(5):
            assert (await anext(watching)).everything
            waiting = asyncio.ensure_future(anext(watching))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
        board.put(notice(1))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(scene())
