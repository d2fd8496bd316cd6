"""Folders are told to servers that the user allowed, and to nobody else."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from splice.host import items
from splice.host.asked import Filled, RootsAsked
from splice.host.asking.questions import Questions
from splice.host.asking.roots import MAX_ROOTS, Roots
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.types import Root
from support.asking import asked_of

Body = Callable[[Board, Questions, Roots, list[str]], Coroutine[Any, Any, None]]


def _run(body: Body, answers: Answers | None = None) -> None:
    async def main() -> None:
        board = Board()
        questions = Questions(board, answers)
        changed: list[str] = []
        async with asyncio.timeout(5):
            await body(board, questions, Roots(board, questions, changed.append), changed)

    asyncio.run(main())


def _folders(parent: Path, *names: str) -> list[Path]:
    for name in names:
        (parent / name).mkdir()
    return [parent / name for name in names]


def test_a_server_is_told_what_the_user_chose_and_asked_about_once(tmp_path: Path) -> None:
    one, two, three = _folders(tmp_path, "one", "two", "three")

    async def body(board: Board, questions: Questions, roots: Roots, changed: list[str]) -> None:
        roots.add(one)
        roots.add(f"{two}/../two", name="Second")
        roots.add(three, servers=["mail"])
        assert [each.name for each in board.all(items.Root)] == ["one", "Second", "three"]
        asking = [asyncio.create_task(roots.tell("files")) for _ in range(2)]
        [question] = await asked_of(questions)
        assert question.asked == RootsAsked([one.as_uri(), two.as_uri()])
        questions.answer(question.id, Filled("accept", {"uris": [two.as_uri()]}), "web")
        assert await asyncio.gather(*asking) == [[Root(uri=two.as_uri(), name="Second")]] * 2
        assert await roots.tell("files") == [Root(uri=two.as_uri(), name="Second")]
        assert changed == []
        # What the user adds or removes is told to those who know folders.
        (tmp_path / "four").mkdir()
        roots.add(tmp_path / "four")
        roots.remove(two.as_uri())
        assert changed == ["files", "files"]
        assert [each.name for each in await roots.tell("files")] == ["four"]
        roots.remove(one.as_uri())
        assert len(changed) == 2
        roots.remove((tmp_path / "four").as_uri())
        roots.add(two)
        assert await roots.tell("files") == [Root(uri=two.as_uri(), name="two")]
        assert len(changed) == 4

    _run(body)


@pytest.mark.parametrize(("action", "is_asked_again"), [("decline", False), ("cancel", True)])
def test_a_refusal_tells_nothing(tmp_path: Path, action: Any, is_asked_again: bool) -> None:
    async def body(_: Board, questions: Questions, roots: Roots, changed: list[str]) -> None:
        roots.add(tmp_path)
        asking = asyncio.create_task(roots.tell("files"))
        [question] = await asked_of(questions)
        questions.answer(question.id, Filled(action), "web")
        assert await asking == []
        (tmp_path / "later").mkdir()
        roots.add(tmp_path / "later")
        assert changed == []
        asking = asyncio.create_task(roots.tell("files"))
        if is_asked_again:
            await asked_of(questions)
            questions.close()
        assert await asking == []

    _run(body)


def test_without_folders_nobody_is_asked_and_nothing_is_told(tmp_path: Path) -> None:
    async def body(_: Board, questions: Questions, roots: Roots, __: list[str]) -> None:
        roots.add(tmp_path, servers=["mail"])
        assert await roots.tell("files") == []
        assert questions.waiting() == []

    _run(body)


def test_what_was_said_can_be_forgotten(tmp_path: Path) -> None:
    async def body(_: Board, __: Questions, roots: Roots, changed: list[str]) -> None:
        root = roots.add(tmp_path)
        assert await roots.tell("files") == [Root(uri=root.uri, name=root.name)]
        roots.forget("files")
        roots.forget("mail")
        assert changed == ["files"]

    _run(body, Answers({"roots": [tmp_path.as_uri()]}))


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    async def body(board: Board, _: Questions, roots: Roots, __: list[str]) -> None:
        for bad in (tmp_path / "none", Path(__file__)):
            with pytest.raises(ValueError, match="is not a folder"):
                roots.add(bad)
        with pytest.raises(KeyError):
            roots.remove("file:///none")
        for number in range(MAX_ROOTS):
            board.put(items.Root(id=f"root:{number}", uri=str(number)))
        with pytest.raises(ValueError, match="already 100 folders"):
            roots.add(tmp_path)

    _run(body)


def test_a_folder_that_is_added_meanwhile_can_be_chosen(tmp_path: Path) -> None:
    one, two, three = _folders(tmp_path, "one", "two", "three")

    async def body(board: Board, questions: Questions, roots: Roots, changed: list[str]) -> None:
        roots.add(one)
        asking = asyncio.create_task(roots.tell("files"))
        [question] = await asked_of(questions)
        roots.add(two)
        roots.add(three, servers=["mail"])
        [item] = board.all(items.Question)
        assert item.asked == RootsAsked([one.as_uri(), two.as_uri()])
        questions.answer(question.id, Filled("accept", {"uris": [two.as_uri()]}), "terminal")
        assert await asking == [Root(uri=two.as_uri(), name="two")]

    _run(body)
