"""The memory against what may be in its file and in its arguments.

Whatever the file holds, reading it does not fail, no good line is lost and no bad one forgotten; whatever is written is
read back by any JSON parser; and nothing is written but the file and those beside it.
"""

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

from fuzz.fuzzing import VALUE, fuzz
from splice import ToolError
from splice.servers.memory import lines
from splice.servers.memory.graph import Entity, Graph, Relation, key_of
from splice.servers.memory.search import search
from splice.servers.memory.store import LOCK, REJECTED, Store

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [
        "",
        "../../x",
        "\0",
        "\n",
        '{"type":"entity"}',
        "\n{",
        "\u2028",
        "\x1b[2J",
        "\ufeff",
        "é",
        "e\u0301",
        "İ",
        "x" * 300,
    ]
)
NAME = st.sampled_from("ABC") | TEXT
ENTITY = st.builds(Entity, NAME, TEXT, st.lists(TEXT, max_size=3))
RELATION = st.builds(Relation, NAME, NAME, TEXT)
GRAPH = st.builds(
    lambda entities, relations: Graph({e.name: e for e in entities}, {key_of(r): r for r in relations}),
    st.lists(ENTITY, max_size=5),
    st.lists(RELATION, max_size=5),
)
GOOD = st.builds(
    lambda e: json.dumps(
        {"type": "entity", "name": e.name, "entityType": e.entityType, "observations": e.observations}
    ),
    ENTITY,
) | st.builds(
    lambda r: json.dumps({"type": "relation", "from": r.source, "to": r.target, "relationType": r.relationType}),
    RELATION,
)
BAD = (
    st.binary(max_size=30)
    | st.builds(lambda value: json.dumps(value).encode(), VALUE)
    | st.builds(lambda text, cut: text.encode()[:-cut], GOOD, st.integers(1, 30))
    | st.sampled_from([b"\xef\xbb\xbf{}", b"[" * 2000, b'{"type":"entity","name":"\\ud800"}', b"\r", b"\0", b"1e999"])
)
FILE = st.lists(st.builds(str.encode, GOOD) | BAD, max_size=8).map(b"\n".join)


def wanted(line: bytes) -> Any:
    """Read a line as a JSON parser of another make does; None where it is no entity and no relation."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("type") in ("entity", "relation") else None


@fuzz(data=FILE)
@example(data=b'\n{"type":"entity","name":"a","entityType":"","observations":[]}\r\n\n \n')
def test_any_file_is_read_and_nothing_of_it_is_forgotten(data: bytes) -> None:
    graph = lines.read(data)
    there = [line for line in data.split(b"\n") if line.strip()]
    assert len(graph.entities) + len(graph.relations) + len(graph.rejected) <= len(there)
    for line in there:
        read = wanted(line)
        if line in graph.rejected:
            continue
        assert read is not None
        if read["type"] == "entity":
            known = graph.entities[read["name"]]
            assert known.entityType == read["entityType"] or graph.rejected
            if known.entityType == read["entityType"]:
                assert set(read["observations"]) <= set(known.observations)
        else:
            assert (read["from"], read["to"], read["relationType"]) in graph.relations


@fuzz(graph=GRAPH)
def test_what_is_written_is_read_again_by_any_parser(graph: Graph) -> None:
    data = lines.write(graph)
    again = lines.read(data)
    assert (again.entities, again.relations, list(again.rejected)) == (graph.entities, graph.relations, [])
    parsed = [json.loads(line) for line in data.decode().split("\n") if line]
    assert [each["type"] for each in parsed] == ["entity"] * len(graph.entities) + ["relation"] * len(graph.relations)
    assert [next(iter(each)) for each in parsed] == ["type"] * len(parsed)


@fuzz(graph=GRAPH, query=TEXT)
def test_search_finds_what_the_original_finds(graph: Graph, query: str) -> None:
    found = search(graph, query)
    having = {
        each.name
        for each in graph.entities.values()
        if any(query.lower() in text.lower() for text in (each.name, each.entityType, *each.observations))
    }
    assert len(found.entities) == len({each.name for each in found.entities})
    if not found.by_words:
        assert {each.name for each in found.entities} == having
    else:
        assert not having


@fuzz(data=FILE, new=st.lists(ENTITY, min_size=1, max_size=4), gone=st.lists(NAME, max_size=2))
def test_a_change_of_any_file_keeps_the_rest_and_stays_beside_it(
    data: bytes, new: list[Entity], gone: list[str]
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        path = Path(place) / "m"
        path.write_bytes(data)
        before, store = lines.read(data), Store(path)
        try:
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda each: store.change(lambda graph: graph.create_entities([each])), new))
            store.change(lambda graph: (graph.delete_entities(gone), None))
        except ToolError:
            assert before.rejected
            assert not before.entities
            assert not before.relations
            assert path.read_bytes() == data
            return
        after = lines.read(path.read_bytes())
        assert set(after.entities) == (set(before.entities) | {each.name for each in new}) - set(gone)
        assert {key for key in before.relations if not {key[0], key[1]} & set(gone)} == set(after.relations)
        aside = Path(f"{path}{REJECTED}")
        kept = aside.read_bytes() if aside.exists() else b"".join(each + b"\n" for each in after.rejected)
        assert kept == b"".join(each + b"\n" for each in before.rejected)
        assert {each.name for each in Path(place).iterdir()} <= {"m", f"m{LOCK}", f"m{REJECTED}"}
