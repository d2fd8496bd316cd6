"""The runner of documentation snippets does what CONTRIBUTING.md says."""

from pathlib import Path

import pytest

from guards.snippets import blocks, commands, first_missing, play

PAGE = """
<!-- file: helper.py -->
```python
VALUE = 8000
```

```python
from helper import VALUE
```

1. An indented one:

   ```python
   assert VALUE > 1023
   with open("seen.txt", "w") as file:
       file.write("first\\nsecond")
   ```

```console
$ cat seen.txt
first
...
$ ls nowhere  # exit 2
ls: ... 'nowhere'...
$ .venv/bin/python -c 'import helper; \\
>   print(helper.VALUE > 0)'
True
```

<!-- not run: would fail -->
```python
raise SystemExit(1)
```

```json
{}
```

```console
$ python -m http.server 8000 --bind 127.0.0.1 &
$ python -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8000").status)'
200
```
"""


def page(directory: Path, text: str) -> Path:
    path = directory / "page.md"
    path.write_text(text)
    return path


def test_a_page_is_played(tmp_path: Path) -> None:
    play(page(tmp_path, PAGE), tmp_path)
    assert (tmp_path / "seen.txt").exists()


def test_blocks_know_their_line_and_mark(tmp_path: Path) -> None:
    found = list(blocks(page(tmp_path, PAGE)))
    assert [block.language for block in found] == ["python"] * 3 + ["console", "python", "json", "console"]
    assert found[0].file == "helper.py"
    assert found[0].line == 4
    assert [block.skipped for block in found] == [False] * 4 + [True, False, False]
    assert found[2].code.startswith("assert VALUE")


@pytest.mark.parametrize(
    "text",
    [
        "```python\nraise ValueError\n```\n",
        "```console\n$ false\n```\n",
        "```console\n$ true  # exit 1\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
        "<!-- file: broken.py -->\n```python\ndef\n```\n",
    ],
)
def test_a_page_that_lies_is_found_out(tmp_path: Path, text: str) -> None:
    with pytest.raises((AssertionError, SyntaxError)):
        play(page(tmp_path, text), tmp_path)


def test_commands_keep_their_output() -> None:
    assert list(commands("$ one\na\nb\n$ two\n")) == [("one", ["a", "b"]), ("two", [])]


def test_output_is_compared_in_order() -> None:
    assert first_missing(["b", "a"], "a\nb\n") == "a"
    assert first_missing(["a", "...", "c ... e"], "a\nb\nc d e\n") is None
