"""The filesystem server answers as the original did, but for what was wrong there; and what the original had not."""

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from servers.filesystem_root import call, laid_out, names
from servers.recorded import Recorded, answered, assert_offers, calls, placed
from splice import Client
from splice.servers.filesystem import editing, listing, reading
from splice.servers.filesystem.server import make

DIFFERENT = {
    3: "tail counted the end of the last line as a line",
    9: "where a link leads is not told to those who may not go there",
    10: "likewise",
    11: "what is no text is told as an escape",
    12: "the home directory is not told",
    14: "a file that is not text was mangled; it is refused, and the tool for it named",
    19: "words of our own for arguments that do not fit",
    23: "as 9",
    29: "a link is told to be one",
    31: "likewise; the size of what it leads to is not told, and the sum has its unit",
    32: "likewise",
    33: "likewise",
    34: "likewise",
    40: "the times of another file",
    43: "an unknown tool is an error of the protocol, as the specification has it",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


@pytest.mark.parametrize("protocol", ["2025-11-25", "modern"])
async def test_it_answers_as_the_original_did(root: Path, protocol: Any) -> None:
    places = {"ROOT": str(root), "SIBLING": f"{root}-sibling"}
    different: dict[int, tuple[Recorded, Any]] = {}
    async with Client(make(directories=[str(root)]), protocol=protocol) as client:
        await assert_offers(client, "filesystem")
        for each in calls("filesystem"):
            answer = await answered(client, each, places)
            for modern in ("resultType", "_meta"):
                answer.get("result", {}).pop(modern, None)
            if answer != placed(each.answer, places):
                different[each.number] = each, answer
    assert different.keys() == DIFFERENT.keys()
    text = {number: json.dumps(answer) for number, (_, answer) in different.items()}
    assert "l3\\nl4\\n" in text[3]
    assert all("/etc/" not in text[number] for number in (9, 10, 23))
    assert "read_media_file" in text[14]
    assert "[LINK] evildir" in text[29]
    assert "Total: 4 files, 2 directories, 2 links\\nCombined size: 25 B" in text[31]
    assert text[40].count("(Coordinated Universal Time)") == 6


async def test_structured_content_fits_what_the_tools_promise(root: Path) -> None:
    """The client holds each result against the output schema of its tool."""
    async with Client(make(directories=[str(root)], max_bytes=4)) as client:
        tools = {tool.name: tool for tool in await client.list_tools()}
        for name in ("a.txt", "img.png", "bin.dat"):
            for tool in ("read_text_file", "read_media_file", "get_file_info"):
                result = await client.call_tool(tool, {"path": name})
                assert result.is_error or result.structured_content is not None
    assert all(tool.output_schema and tool.title and tool.description for tool in tools.values())
    writes = {name for name, tool in tools.items() if tool.annotations and not tool.annotations.read_only_hint}
    assert writes == {"write_file", "edit_file", "create_directory", "move_file"}


LINES = "".join(f"line {number} é\n" for number in range(1, 1001))


@pytest.mark.parametrize(
    ("text", "wanted", "shown"),
    [
        ("a\nb\nc", {"tail": 2}, "b\nc"),
        ("a\nb\nc\n", {"tail": 9}, "a\nb\nc\n"),
        ("", {"tail": 1}, ""),
        ("\n\n", {"tail": 1}, "\n"),
        (LINES, {"tail": 1}, "line 1000 é\n"),
        ("a\nb\n", {"head": 9}, "a\nb"),
        ("a\nb\nc\n", {"head": 1, "offset": 1}, "b"),
        ("a\nb\n", {"offset": 2}, ""),
        (LINES, {"offset": 998, "head": 1}, "line 999 é"),
        ("\ufeffa", {}, "\ufeffa"),
    ],
)
async def test_lines_are_read_from_either_end(root: Path, text: str, wanted: dict[str, Any], shown: str) -> None:
    (root / "t").write_bytes(text.encode())
    result = await call(make(directories=[str(root)]), "read_text_file", path="t", **wanted)
    assert (result.text, len(result.content)) == (shown, 1)


async def test_a_large_file_is_read_piece_by_piece_to_its_end(root: Path) -> None:
    (root / "large").write_text(LINES + "x" * 5000)
    server, read, offset = make(directories=[str(root)], max_bytes=1000), "", 0
    while True:
        result: Any = (await call(server, "read_text_file", path="large", offset=offset)).structured_content
        read += result["content"]
        note = result.get("note", "")
        if "not shown to its end" in note or not note:
            break
        offset = int(note.rpartition("offset=")[2].rstrip("."))
    assert read == LINES + "x" * 1000
    end: Any = (await call(server, "read_text_file", path="large", tail=3)).structured_content
    assert end["content"] == "x" * 1000
    assert "last 1000 of" in end["note"]


async def test_several_files_share_the_room_of_one_answer(root: Path) -> None:
    server = make(directories=[str(root)], max_bytes=15)
    result: Any = (await call(server, "read_multiple_files", paths=["a.txt", "sub/b.md", "a.txt"])).structured_content
    assert result["content"] == "a.txt:\nl1\nl2\nl3\nl4\n\n\n---\nsub/b.md:\n# b\n"
    assert "sub/b.md from byte 3 of 4 on, a.txt" in result["note"]
    refused = await call(make(directories=[str(root)], max_media_bytes=2), "read_media_file", path="bin.dat")
    assert refused.is_error
    assert "more than the 2 bytes" in refused.text


@pytest.mark.parametrize("name", ["latin", "utf-16"])
async def test_what_is_not_utf_8_is_refused_and_never_mangled(root: Path, name: str) -> None:
    (root / name).write_bytes("é\n".encode(name))
    server = make(directories=[str(root)])
    for tool, arguments in (("read_text_file", {}), ("edit_file", {"edits": [{"oldText": "\n", "newText": "x"}]})):
        result = await call(server, tool, path=name, **arguments)
        assert result.is_error
        assert "not UTF-8 text" in result.text
    assert (root / name).read_bytes() == "é\n".encode(name)


EDITS = [
    ("a b a", [("a", "$&")], "$& b a"),
    ("if x:\n    go()\n    stop()\n", [("go()\nstop()", "run()\n  now()")], "if x:\n    run()\n      now()\n"),
    ("\tone\n\ttwo\n", [("one\n two", "1\n2")], "\t1\n\t2\n"),
    ("a\r\nb\r\n", [("a\nb", "1\n2")], "1\r\n2\r\n"),
    ("a\nb", [("a", "b"), ("b\nb", "c")], "c"),
    ("", [("", "new")], "new"),
]


@pytest.mark.parametrize(("before", "edits", "after"), EDITS)
async def test_edits(root: Path, before: str, edits: list[tuple[str, str]], after: str) -> None:
    (root / "e").write_bytes(before.encode())
    given = [{"oldText": old, "newText": new} for old, new in edits]
    result = await call(make(directories=[str(root)]), "edit_file", path="e", edits=given)
    assert not result.is_error, result.text
    assert (root / "e").read_bytes() == after.encode()


async def test_an_edit_that_is_not_found_changes_nothing_and_a_diff_fits_its_fence(root: Path) -> None:
    (root / "e").write_text("one\n```\n" + "".join(f"{number}\n" for number in range(40)) + "last")
    server = make(directories=[str(root)])
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "nowhere", "newText": ""}]
    failed = await call(server, "edit_file", path="e", edits=edits)
    assert failed.text == "Could not find exact match for edit:\nnowhere"
    assert (root / "e").read_text().startswith("one")
    edits = [
        {"oldText": "one", "newText": "1"},
        {"oldText": "20", "newText": "x\ny"},
        {"oldText": "last", "newText": "z"},
    ]
    diff = (await call(server, "edit_file", path="e", edits=edits, dryRun=True)).text
    assert diff.startswith("````diff\n")
    assert diff.endswith("\n-last\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n````\n\n")
    assert "@@ -1,5 +1,5 @@" in diff
    assert "@@ -19,9 +19,10 @@" in diff


@pytest.mark.timeout(20)  # what is quadratic takes longer
async def test_edits_take_no_longer_than_the_file_is_long(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = make(directories=[str(root)])
    (root / "e").write_text("a\n" * 100_000)
    wanted = [{"oldText": "a \n" * 20_000 + "b", "newText": ""}]
    assert "Could not find" in (await call(server, "edit_file", path="e", edits=wanted)).text
    monkeypatch.setattr(editing, "MAX_STEPS", 1_000)
    (root / "e").write_text("first\n" + "".join(f"{number % 101}\n" for number in range(9_000)) + "last\n")
    edits = [{"oldText": "first", "newText": "1"}, {"oldText": "last", "newText": "2"}]
    assert "@@ -1,9002 +1,9002 @@" in (await call(server, "edit_file", path="e", edits=edits)).text
    assert (root / "e").read_text().startswith("1\n0\n1\n")
    monkeypatch.setattr(editing, "MAX_SECONDS", -1)
    assert "make fewer at once" in (await call(server, "edit_file", path="e", edits=edits)).text


async def test_a_long_diff_is_cut_and_its_fence_closed(root: Path) -> None:
    server = make(directories=[str(root)], max_bytes=800)
    edits = [{"oldText": "l1", "newText": "`````\n" + "new\n" * 200}]
    result: Any = (await call(server, "edit_file", path="a.txt", edits=edits)).structured_content
    assert result["content"].startswith("``````diff\nIndex: ")
    assert result["content"].endswith("\n+new\n``````\n\n")
    assert len(result["content"]) < 820
    assert "of the diff" in result["note"]
    assert (root / "a.txt").read_text().count("new") == 200


async def test_lines_of_an_endless_file_are_not_skipped_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_SECONDS", 0.05)
    os.truncate(root / "a.txt", 1 << 40)
    result = await call(make(directories=[str(root)]), "read_text_file", path="a.txt", offset=9)
    assert result.is_error
    assert "too large" in result.text


async def test_edits_at_the_same_time_all_count(root: Path) -> None:
    (root / "e").write_text("".join(f"<{number}>\n" for number in range(20)))
    async with Client(make(directories=[str(root)])) as client:

        async def edit(number: int) -> None:
            edits = [{"oldText": f"<{number}>", "newText": f"done {number}"}]
            assert not (await client.call_tool("edit_file", {"path": "e", "edits": edits})).is_error

        await asyncio.gather(*map(edit, range(20)))
    assert "<" not in (root / "e").read_text()


async def test_a_file_keeps_its_permissions_and_is_never_half_written(root: Path) -> None:
    script = root / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    before = script.open("rb")
    result = await call(make(directories=[str(root)]), "write_file", path="run.sh", content="new")
    assert not result.is_error
    assert before.read() == b"old"  # who had it open still has the whole old one
    before.close()
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o750)
    assert not [each for each in names(root) if each.endswith(".tmp")]


SEARCHES: list[tuple[str, list[str], list[str]]] = [
    ("*.txt", [], ["a.txt"]),
    ("**/*.{md,png}", [], ["img.png", "sub/b.md"]),
    ("sub/**", [], ["sub/b.md", "sub/deep"]),
    ("**/[^a-h]*", ["sub"], ["img.png"]),
    ("**/d??p", [], ["sub/deep"]),
    ("**", ["**/deep", "*i*", "*.txt"], ["sub", "sub/b.md"]),
    ("evil*/**", [], []),
    ("*a*a*a*a*a*a*a*a*a*a*a*a*a*b", [], []),
]


@pytest.mark.parametrize(("pattern", "excluded", "found"), SEARCHES)
async def test_searches(root: Path, pattern: str, excluded: list[str], found: list[str]) -> None:
    server = make(directories=[str(root)])
    result = await call(server, "search_files", path=".", pattern=pattern, excludePatterns=excluded)
    assert result.text == ("\n".join(f"{root}/{each}" for each in found) or "No matches found")


async def test_a_pattern_stands_for_few_others(root: Path) -> None:
    for pattern in ("{a,b}" * 7, "a" * 1001):
        result = await call(make(directories=[str(root)]), "search_files", path=".", pattern=pattern)
        assert "at most 1" in result.text


async def test_a_search_ends_in_time_within_one_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = make(directories=[str(root)])
    many = {"pattern": "*", "excludePatterns": ["**/" * 330 + "none"] * 20}  # each ** is the same as all of them
    found = await call(server, "search_files", path=".", **many)
    assert found.text.splitlines()[0] == f"{root}/a.txt"
    refused = await call(server, "search_files", path=".", pattern="*", excludePatterns=["a/" * 400] * 30)
    assert "at most 20000 characters" in refused.text
    monkeypatch.setattr(listing, "MAX_SECONDS", -1)
    for tool, more in (("search_files", {"pattern": "*"}), ("directory_tree", {})):
        result: Any = (await call(server, tool, path=".", **more)).structured_content
        assert "a.txt" not in result["content"]
        assert "ended before everything was seen" in result["note"]


async def test_a_path_holds_few_handles(root: Path) -> None:
    server = make(directories=[str(root)])
    for path in ("d/" * 101, "link/" + "d/" * 60):
        (root / "link").unlink(missing_ok=True)
        (root / "link").symlink_to("d/" * 60)
        (root / ("d/" * 60)).mkdir(parents=True, exist_ok=True)
        result = await call(server, "create_directory", path=path)
        assert result.text.startswith("ENAMETOOLONG: name too long, mkdir")
    assert not (root / ("d/" * 101)).exists()


def test_an_empty_path_is_no_directory(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(FileNotFoundError, match="none of the directories"):
        make(directories=[""])


async def test_long_answers_end_with_a_note(root: Path) -> None:
    for number in range(30):
        (root / "sub" / f"{number:02}").touch()
    server = make(directories=[str(root)], max_entries=10)
    arguments: dict[str, dict[str, Any]] = {
        "list_directory": {},
        "list_directory_with_sizes": {},
        "directory_tree": {},
        "search_files": {"pattern": "**"},
    }
    for tool, more in arguments.items():
        result: Any = (await call(server, tool, path="sub", **more)).structured_content
        assert result["note"].startswith("Shown are 10 entries; at least 22 more were found."), tool
        assert "b.md" not in result["content"]
        assert "07" in result["content"]


async def test_a_deep_tree_ends_somewhere(root: Path) -> None:
    here = os.open(root / "sub" / "deep", os.O_RDONLY)
    for _ in range(150):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    server = make(directories=[str(root)])
    for tool, more in (("directory_tree", {}), ("search_files", {"pattern": "**/d"})):
        result: Any = (await call(server, tool, path="sub", **more)).structured_content
        assert result["note"] == "Directories that could not be read, or lie deeper than 100: 1."


async def test_many_files_are_searched_while_others_are_answered(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"d{number}").mkdir()
    for number in range(1_000):
        os.close(os.open(tmp_path / f"d{number % 100}" / f"f{number}.txt", os.O_CREAT))
    server = make(directories=[str(tmp_path)], max_entries=1_000)
    async with Client(server) as client:
        search = asyncio.create_task(client.call_tool("search_files", {"path": ".", "pattern": "**/*9.txt"}))
        await client.call_tool("list_allowed_directories")
        assert not search.done()
        assert len((await search).text.splitlines()) == 100
