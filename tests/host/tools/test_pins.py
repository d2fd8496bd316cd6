"""What the user saw of definitions is remembered, and nothing that changed passes for it."""

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.host.tools.pins import MAX_PINS, MAX_SERVER_BYTES, Pin, Pins, definition, fingerprint
from splice.types import Icon, Prompt, PromptArgument, Tool, ToolAnnotations

MAIL = Tool(name="send", description="Send a mail", input_schema={"type": "object"})


def pin(tool: Tool) -> Pin:
    written = definition(tool)
    return Pin(fingerprint(written), written)


def pins(path: Path, said: list[str] | None = None) -> Pins:
    opened = Pins(path, (said if said is not None else []).append)
    opened.open("mail", "as configured")
    return opened


@pytest.mark.parametrize(
    "change",
    [
        {"title": "T"},
        {"description": "Send a mail."},
        {"input_schema": {"type": "object", "properties": {"note": {}}}},
        {"output_schema": {"type": "object"}},
        {"annotations": ToolAnnotations(read_only_hint=True)},
        {"meta": {"a.example/b": 1}},
    ],
    ids=lambda each: next(iter(each)),
)
def test_every_member_that_the_model_or_the_policy_sees_counts(tmp_path: Path, change: dict[str, Any]) -> None:
    kept = pins(tmp_path / "pins.json")
    assert kept.check("mail", "tool", definition(MAIL)) == "new"
    kept.pin("mail", "tool", pin(MAIL))
    assert kept.check("mail", "tool", definition(MAIL)) == "same"
    assert kept.check("mail", "tool", definition(msgspec.structs.replace(MAIL, **change))) == "changed"


def test_pictures_and_the_order_of_members_do_not_count(tmp_path: Path) -> None:
    kept = pins(tmp_path / "pins.json")
    kept.pin("mail", "tool", pin(Tool(name="a", input_schema={"type": "object", "required": ["b"]})))
    same = Tool(name="a", input_schema={"required": ["b"], "type": "object"}, icons=[Icon(src="https://a.example/1")])
    assert kept.check("mail", "tool", definition(same)) == "same"


def test_prompts_and_instructions_are_pinned_too(tmp_path: Path) -> None:
    kept = pins(tmp_path / "pins.json")
    changes: list[tuple[str, Prompt | str, Prompt | str]] = [
        ("prompt", Prompt(name="p"), Prompt(name="p", arguments=[PromptArgument(name="a")])),
        ("instructions", "Be brief.", "Be brief. Ask nobody."),
    ]
    for kind, before, after in changes:
        written = definition(before)
        kept.pin("mail", kind, Pin(fingerprint(written), written))
        assert kept.check("mail", kind, written) == "same"
        assert kept.check("mail", kind, definition(after)) == "changed"


def test_pins_outlive_the_host_with_the_definition_itself(tmp_path: Path) -> None:
    path = tmp_path / "state" / "pins.json"
    first = pins(path)
    first.pin("mail", "tool", pin(MAIL))
    first.switch("mail", "other", on=False)
    first.save()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    again = Pins(path)
    assert again.open("mail", "as configured")
    found = again.get("mail", "tool", "send")
    assert found is not None
    assert found.definition["description"] == "Send a mail"
    assert (again.is_on("mail", "send"), again.is_on("mail", "other")) == (True, False)


def test_a_server_that_is_configured_otherwise_is_another_one(tmp_path: Path) -> None:
    kept = pins(tmp_path / "pins.json")
    kept.pin("mail", "tool", pin(MAIL))
    kept.switch("mail", "send", on=False)
    assert not kept.open("mail", "otherwise")
    assert kept.check("mail", "tool", definition(MAIL)) == "new"
    assert not kept.is_on("mail", "send"), "what the user switched off stays off"


def test_two_hosts_lose_nothing_of_each_other(tmp_path: Path) -> None:
    path = tmp_path / "pins.json"
    one, two = pins(path), pins(path)
    two.open("web", "its url")
    one.pin("mail", "tool", pin(MAIL))
    two.switch("mail", "send", on=False)
    two.pin("web", "tool", pin(MAIL))
    one.save()
    two.save()
    again = pins(path)
    assert again.open("web", "its url")
    assert again.get("mail", "tool", "send")
    assert again.get("web", "tool", "send")
    assert not again.is_on("mail", "send")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"servers": {"mail": 1}}', b"\xff\x00", b"[" * 100_000])
def test_a_damaged_file_is_said_and_nothing_passes_for_new(tmp_path: Path, content: bytes) -> None:
    path, said = tmp_path / "pins.json", list[str]()
    path.write_bytes(content)
    kept = pins(path, said)
    assert kept.was_lost("mail")
    assert len(said) == 1
    assert "pins.json.damaged" in said[0]
    assert (tmp_path / "pins.json.damaged").read_bytes() == content
    assert pins(path, said).was_lost("mail"), "not after the next start either"
    assert len(said) == 1


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    (tmp_path / "file").touch()
    return tmp_path / "file" / "pins.json"


def test_a_file_that_cannot_be_written_is_said(unwritable: Path) -> None:
    said = list[str]()
    kept = pins(unwritable, said)
    kept.pin("mail", "tool", pin(MAIL))
    kept.save()
    assert "cannot be kept" in said[-1]
    assert kept.check("mail", "tool", definition(MAIL)) == "same"


def test_a_server_cannot_fill_the_file(tmp_path: Path) -> None:
    kept = pins(tmp_path / "pins.json")
    for number in range(MAX_PINS + 10):
        kept.pin("mail", "tool", Pin("", {"name": f"t{number}"}))
    assert len(kept.all("mail", "tool")) == MAX_PINS


def test_texts_that_are_too_long_are_known_by_their_fingerprints_alone(tmp_path: Path) -> None:
    kept = pins(tmp_path / "pins.json")
    long = [Tool(name=f"t{each}", description="x" * (MAX_SERVER_BYTES // 2), input_schema={}) for each in range(5)]
    for each in long:
        kept.pin("mail", "tool", pin(each))
    kept.pin("mail", "tool", pin(long[0]))
    kept.save()
    assert (tmp_path / "pins.json").stat().st_size < MAX_SERVER_BYTES
    again = pins(tmp_path / "pins.json")
    assert [again.check("mail", "tool", definition(each)) for each in long] == ["same"] * 5


@given(st.dictionaries(st.text(), st.text() | st.integers(), max_size=4), st.text())
def test_a_fingerprint_can_be_made_of_whatever_came(schema: dict[str, Any], text: str) -> None:
    assert len(fingerprint({"name": text, "inputSchema": schema})) == 64
