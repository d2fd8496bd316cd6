"""JSON with comments: what is read, what is refused and where, and edits that leave the rest alone."""

import json
import random
from typing import Any

import pytest

from splice.host.config.jsonc import MAX_DEPTH, BadConfiguration, decode, parse, put, remove

COMMENTED = """// head
{
    // about a
    "a": 1, // with a
    "servers": {
        "x": {"command": "y"}, /* of x */
        "z": {"url": "http://q//r"} // last
    },
    /* end */
}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("// nothing\n", {}),
        (
            '{"a": [1, 2.5e3, true, null,], /* { */ "b": "// \\u00e4\\ud83d\\ude00",}',
            {"a": [1, 2500.0, True, None], "b": "// ä😀"},
        ),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
    ],
)
def test_what_is_read(text: str, value: Any) -> None:
    assert value is None or decode(text) == value
    parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "a": }', "line 2, column 7: not a value: }"),
        ('{"a": 1, "a": 2}', 'line 1, column 10: an object has the name "a" twice'),
        ('{"a" 1}', "line 1, column 6: not a colon"),
        ("{a: 1}", "not a name in quotes"),
        ("{1: 1}", "not a name in quotes"),
        ("[1 2]", "not a comma or ]"),
        ("[,]", "not a value: ,"),
        ('{"a": "x\ny"}', "does not end on its line"),
        ('"\\x"', "bad escape"),
        ('{"a": 1}}', "something after the end"),
        ("/* x", "this comment does not end"),
        ('{"a": 1', "the text ends where a comma or } should stand"),
        ("NaN", "not a value"),
        ("01", "something after the end"),
        ("1e999", "this number is too large"),
        ("1" * 5_000, "this number is too long"),
        ('"\\ud800"', "half of a surrogate pair"),
        ("[" * (MAX_DEPTH + 2), f"nested deeper than {MAX_DEPTH}"),
        ("[" * 100_000, f"nested deeper than {MAX_DEPTH}"),
        (" " * (4 * 2**20 + 1), "more than 4 MiB"),
    ],
    ids=range(20),
)
def test_what_is_refused_says_where(text: str, message: str) -> None:
    with pytest.raises(BadConfiguration) as caught:
        decode(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (["a"], 2, '"a": 1,', '"a": 2,'),
        (["servers", "n"], {"b": []}, 'r"} //', 'r"}, //'),
        (["servers", "n"], {"b": []}, "// last", '// last\n        "n": {\n            "b": []\n        }'),
        (["new", "b"], 5, "/* end */", '/* end */\n    "new": {\n        "b": 5\n    },'),
        (["servers", "x", "e"], 1, '"y"}', '"y", "e": 1}'),
    ],
)
def test_putting_leaves_the_rest_alone(path: list[str], value: Any, before: str, after: str) -> None:
    text = put(COMMENTED, path, value)
    assert after in text
    if path[-1] != "n":  # that one makes two edits
        assert text == COMMENTED.replace(before, after)


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        (COMMENTED, ["a"], COMMENTED.replace('    "a": 1, // with a\n', "")),
        (
            COMMENTED,
            ["servers", "z"],
            COMMENTED.replace('"y"},', '"y"}').replace('        "z": {"url": "http://q//r"} // last\n', ""),
        ),
        (COMMENTED, ["servers", "none"], COMMENTED),
        ('{"a": 1, "b": 2, "c": 3}', ["a"], '{"b": 2, "c": 3}'),
        ('{"a": 1,}', ["a"], "{}"),
        ("{}", ["a", "b"], "{}"),
    ],
    ids=range(6),
)
def test_removing_leaves_the_rest_alone(text: str, path: list[str], result: str) -> None:
    assert remove(text, path) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("// mine\n", '// mine\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{\r\n\t"a": {}\r\n}', '{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}'),
        ('{"c": 1 // c\n}', '{"c": 1, // c\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"a": {"b": {"c": 2}}}', '{"a": {"b": 1}}'),
        ('{"a": {}, "c": 1}', '{"a": {\n  "b": 1\n}, "c": 1}'),
    ],
)
def test_a_file_gets_what_it_lacks(text: str, result: str) -> None:
    assert put(text, ["a", "b"], 1) == result


def test_what_is_no_object_takes_no_member() -> None:
    for text in ("[]", '{"a": 5}', '{"a": []}'):
        with pytest.raises(BadConfiguration, match=r"not an object|no object 'a'"):
            put(text, ["a", "b"], 1)


def test_any_layout_survives_any_edit() -> None:
    chance = random.Random(7)

    def value(depth: int) -> Any:
        if depth > 2 or chance.random() < 0.3:
            return chance.choice([1, "x, // no", "{", None, [1, {"q": 2}], {}])
        return {f"{chance.choice('abc')}{number}": value(depth + 1) for number in range(chance.randint(0, 3))}

    def written(each: Any) -> str:
        if not isinstance(each, dict):
            return json.dumps(each)
        parts = [f"{gap()}{json.dumps(name)}{gap()}:{gap()}{written(inner)}{gap()}" for name, inner in each.items()]
        return f"{{{','.join(parts)}{',' if parts and chance.random() < 0.3 else ''}{gap()}}}"

    def gap() -> str:
        return chance.choice(["", " ", "\n  ", "// c\n", "/* , } */"])

    for _ in range(300):
        tree: Any = {"first": value(0), "second": value(0)}
        text, node = written(tree), tree
        path: list[str] = []
        while isinstance(node, dict) and node and (not path or chance.random() < 0.7):
            path.append(chance.choice(list(node)))
            node = node[path[-1]]
        expected = json.loads(json.dumps(tree))
        parent = expected
        for name in path[:-1]:
            parent = parent[name]
        parent[path[-1]] = {"z": [1]}
        assert json.dumps(decode(put(text, path, {"z": [1]}))) == json.dumps(expected), (text, path)
        del parent[path[-1]]
        assert json.dumps(decode(remove(text, path))) == json.dumps(expected), (text, path)
