"""The views of the terminal app: chat, servers, tools, resources, activity, permissions; and the composer."""

import asyncio
import base64
import struct
import sys
import time
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

import pytest
from msgspec.structs import replace
from PIL import Image
from textual.content import Content
from textual.dom import DOMNode
from textual.events import Paste
from textual.widgets import Input

from faces.terminal.acting import Acting, acting
from splice.host.items import Block, Context, Rule
from splice.host.terminal import glyphs, halfblocks, pictures
from splice.host.terminal.bars import Tab
from splice.host.terminal.calls import CallRow, Group
from splice.host.terminal.chat import Chat
from splice.host.terminal.composer import Offers
from splice.host.terminal.pictures import Picture
from splice.host.terminal.prompting import PromptDialog
from splice.host.terminal.rows import Rows
from splice.host.terminal.tools import ToolsPanel
from splice.types import ResourceContents
from support import scenes
from support.stage import Stage


def played(
    scene: Callable[[Stage], None],
    play: Callable[[Acting], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
    **fields: Any,
) -> None:
    async def run() -> None:
        async with acting(scene, size, **fields) as person:
            await play(person)

    asyncio.run(run())


def test_text_streams_and_the_view_follows() -> None:
    async def play(person: Acting) -> None:
        said = scenes.model_says(20, "", is_done=False)
        for count in range(1, 60):
            person.stage.board.put(replace(said, text="\n".join(f"line {n}" for n in range(count))))
            await asyncio.sleep(0)
        await person.sees("line 58")
        await person.press("home")
        await person.sees("You")
        person.stage.board.put(replace(said, text="the end", is_done=True, stop="stopped by you"))
        await person.press("end")
        await person.sees("stopped: stopped by you")

    played(scenes.mid_turn, play)


def test_a_long_call_shows_where_it_begins_while_words_of_the_model_come_in() -> None:
    """What comes in moves the chat to its end only until the call is laid out: then its reader is elsewhere."""

    async def play(person: Acting) -> None:
        board = person.stage.board
        result = [Block("text", text="a line\n" * 60, bytes=420)]
        board.put(scenes.call(20, "weather", "forecast", state="done", result=result, bytes=420))
        said = scenes.model_says(21, "", is_done=False)
        board.put(said)
        await person.until(lambda: any(row.call.id == "call:20" for row in person.app.query(CallRow)))
        row = next(row for row in person.app.query(CallRow) if row.call.id == "call:20")
        for turn in range(1, 12):
            board.put(replace(said, text="word " * turn))
            if turn == 4:
                row.action_open()
            for _ in range(turn):
                await asyncio.sleep(0)
        await person.sees("420 bytes")
        board.put(replace(said, text="the end", is_done=True))
        await person.takes()
        assert "420 bytes" in person.text()

    played(scenes.mid_turn, play)


def test_a_call_is_opened_in_place_and_cancelled_alone() -> None:
    async def play(person: Acting) -> None:
        rows = {row.call.tool: row for row in person.app.query(CallRow)}
        await person.until(lambda: [group.has_class("-live") for group in person.app.query(Group)] == [False, True])
        rows["searchFlights"].focus()
        await person.press("enter")
        await person.sees("Allowed by the rule travel/search*")
        rows["findBestFlight"].focus()
        await person.press("delete")
        assert person.named("cancel") == [{"call": "call:6"}]
        rows["searchFlights"].focus()
        await person.press("delete")
        assert len(person.named("cancel")) == 1

    played(scenes.mid_turn, play, (120, 40))


def test_ten_thousand_changes_leave_the_app_answering() -> None:
    """It draws what there is when it comes to it, and not each change before a key is answered."""

    async def play(person: Acting) -> None:
        before = len(person.batches)
        for _ in range(10):
            scenes.storm(person.stage, 1_000)
            await person.press("x")
        await person.until(lambda: person.app.draft.text == "x" * 10)
        await person.sees("999/1000")
        assert len(person.batches) - before <= 10

    played(scenes.mid_turn, play)


def test_a_message_is_sent_and_brought_back() -> None:
    async def play(person: Acting) -> None:
        await person.write("two\nlines")
        await person.press("enter")
        assert person.named("say") == [{"text": "two\nlines", "prompt": "", "tool": ""}]
        await person.sees("lines")
        await person.press("up")
        assert person.app.draft.text == "two\nlines"

    played(scenes.empty, play)


def test_a_slash_offers_prompts_and_its_form_completes() -> None:
    async def play(person: Acting) -> None:
        await person.write("/pl")
        await person.until(lambda: person.app.screen.query_one(Offers).offers)
        await person.press("tab", "enter")
        await person.until(lambda: isinstance(person.app.screen, PromptDialog))
        await person.write("bar")
        await person.sees("Barcelona (BCN)")
        assert [each["value"] for each in person.named("complete")] == ["bar"], "typing is not waited for"
        await person.press("down", "tab", "enter")
        await person.press("ctrl+s")
        assert person.named("say") == []
        for text in ("2024-06-15", "2024-06-22", "3000"):
            await person.write(text)
            await person.press("enter")
        await person.press("ctrl+r")
        await person.sees("Plan it: destination Barcelona (BCN)")
        await person.press("ctrl+s")
        [said] = person.named("say")
        assert said["prompt"] == "travel/plan-vacation"
        assert said["arguments"]["destination"] == "Barcelona (BCN)"
        assert said["arguments"]["budget"] == "3000"

    played(scenes.empty, play)


def test_earlier_arguments_go_along_with_a_completion() -> None:
    async def play(person: Acting) -> None:
        await person.write("/plan-vacation budget=3000 destination=Ber")
        await person.press("enter")
        await person.until(lambda: isinstance(person.app.screen, PromptDialog))
        person.app.screen.query(Input).first().focus()
        await person.press("end", "l")
        await person.until(lambda: person.named("complete"))
        assert person.named("complete")[0]["known"] == {"budget": "3000"}
        assert person.named("complete")[0]["value"] == "Berl"

    played(scenes.empty, play)


def test_resources_and_tools_are_offered_in_the_composer() -> None:
    def scene(stage: Stage) -> None:
        scenes.mid_turn(stage)
        scenes.resources(stage)

    async def play(person: Acting) -> None:
        await person.write("see @")
        await person.until(lambda: person.app.draft.text == "see @")
        await person.press("s")
        await person.until(lambda: person.app.screen.query_one(Offers).offers)
        await person.write("pain")
        await person.press("tab")
        assert person.named("attach") == [{"server": "travel", "uri": "travel://past-trips/Spain-2023"}]
        await person.write("#fore")
        await person.press("tab")
        assert person.app.draft.text == "see #weather/forecast "
        await person.press("enter")
        person.stage.board.change("chat:1", is_busy=False)
        await person.until(lambda: person.named("say"), "it is never said")
        assert person.named("say")[0]["tool"] == "tool:weather/forecast"

    played(scene, play)


def test_resources_are_picked_previewed_and_made_of_templates() -> None:
    async def play(person: Acting) -> None:
        await person.press("f5")
        await person.sees("no answer in 5 s")
        rows = person.app.screen.query_one("#resources-rows", Rows)
        await person.press("down", "space", "down", "space")
        assert [each["uri"] for each in person.named("attach")] == [
            "calendar://my-calendar/July-2024",
            "calendar://my-calendar/June-2024",
        ]
        rows.go(5)
        await person.press("enter")
        await person.sees('"stayed": "Hotel Mar Bella"')
        rows.go(7)
        await person.press("enter")
        await person.sees("origin")
        await person.write("NYC")
        await person.press("tab")
        await person.write("BCN/x")
        await person.sees("travel://flights/NYC/BCN%2Fx")
        await person.press("enter")
        assert person.named("attach")[-1]["uri"] == "travel://flights/NYC/BCN%2Fx"
        await person.press("slash")
        await person.write("norw")
        await person.sees("Norway")
        assert rows.count == 4  # two servers, one resource, one problem

    played(scenes.resources, play, (120, 40))


def test_a_crashed_server_says_its_last_words_and_is_restarted() -> None:
    async def play(person: Acting) -> None:
        await person.press("f3", "down", "down")
        await person.sees("KeyError: 'CALENDAR_TOKEN'")
        await person.sees("Set CALENDAR_TOKEN")
        await person.press("r", "o", "l")
        await person.sees("line 39")
        assert person.named("restart_server") == [{"name": "calendar"}]
        assert person.named("switch_server") == [{"name": "calendar", "on": False}]
        await person.press("end", "i")
        assert person.named("log_in") == [{"name": "github"}]

    played(scenes.crashed, play, (120, 40))


def test_a_changed_tool_shows_old_and_new_and_is_accepted() -> None:
    def scene(stage: Stage) -> None:
        scenes.tools(stage)
        scenes.changed_tool(stage)

    async def play(person: Acting) -> None:
        await person.press("f4")
        await person.sees("{+ Before this, read file:///home.+}")
        await person.sees("tells the model what to do first")
        await person.press("y")
        assert person.named("accept_tool") == [{"id": "tool:travel/cancelTrip"}]
        await person.press("end", "space")
        assert person.named("switch_tool") == [{"id": "tool:weather/forecast", "on": False}]

    played(scene, play)


def test_tables_are_sorted_and_the_cursor_stays_on_its_item() -> None:
    def first(person: Acting) -> str:
        return person.app.screen.query_one(ToolsPanel).items[0].name

    async def play(person: Acting) -> None:
        panel = person.app.screen.query_one(ToolsPanel)
        await person.press("f4", "end")
        assert panel.here
        assert panel.here.name == "forecast"
        scenes.changed_tool(person.stage)
        await person.until(lambda: first(person) == "cancelTrip")
        assert panel.here.name == "forecast", "what came above does not move the cursor to another tool"
        await person.press("less_than_sign")
        assert first(person) == "deleteMail", "by tokens"
        await person.press("R")
        await person.sees("Tokens ↑")
        assert first(person) == "bookTrip"
        await person.press("greater_than_sign")
        assert first(person) == "cancelTrip", "as they came"
        await person.pilot.click("#tools Headings", offset=(25, 0))
        await person.sees("Server ↓")
        assert first(person) == "deleteMail"
        assert panel.here.name == "forecast"
        await person.press("space")
        assert person.named("switch_tool")[-1]["id"] == "tool:weather/forecast"

    played(scenes.tools, play, (120, 40))


def test_tools_say_when_they_ask() -> None:
    def scene(stage: Stage) -> None:
        scenes.tools(stage)
        scenes.permissions(stage)

    async def play(person: Acting) -> None:
        await person.press("f4")
        shown = {line.split()[1]: line for line in person.text().splitlines() if " travel " in line or " mail " in line}
        asks = {
            "searchFlights": "not this chat",
            "bookTrip": "every time",
            "deleteMail": "off",
            "sendEmail": "every time",
        }
        for name, when in asks.items():
            assert when in shown[name], name

    played(scene, play)


def test_a_call_is_copied_as_the_command_that_repeats_it() -> None:
    async def play(person: Acting) -> None:
        next(row for row in person.app.query(CallRow) if row.call.tool == "forecast").focus()
        await person.press("y")
        assert person.app.clipboard == """splice call '.mcp.json#weather' forecast '{"city":"Barcelona"}'"""

    played(scenes.mid_turn, play)


def test_a_permission_is_revoked_and_brought_back() -> None:
    async def play(person: Acting) -> None:
        await person.press("f7", "end", "x")
        await person.until(lambda: person.stage.board.get("rule:3", Rule) is None)
        assert person.named("revoke") == [{"rule": "rule:3"}]
        await person.press("u")
        assert person.named("restore") == [{"rule": "rule:3"}]

    played(scenes.permissions, play)


def test_ten_thousand_records_scroll_evenly() -> None:
    async def play(person: Acting) -> None:
        await person.press("f6")
        await person.sees("number 10000")
        await person.press("end")
        await person.sees("number 1\n")
        await person.press("home", *["pagedown"] * 10)
        assert person.stage.activity.reads < 8, "what is not seen is read"
        await person.press("slash")
        await person.write("server:mail")
        await person.press("enter")
        await person.sees("sendEmail")
        assert "forecast" not in person.text()

    played(scenes.records, play)


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (160, 40)])
def test_each_size_shows_what_it_has_room_for(size: tuple[int, int]) -> None:
    async def play(person: Acting) -> None:
        text = person.text()
        assert all(len(line) <= size[0] for line in text.splitlines())
        assert ("weather  " in text) == (size[0] >= 72), "the server column of calls"
        assert ("6 tools" in text) == (size[0] >= 100)
        assert ("In this chat" in text) == (size[0] >= 150)
        assert ("F1 help" in text) == (size[1] >= 16)
        await person.sees("2 wait for you")
        await person.press("ctrl+o")
        await person.sees("Book")
        await person.press("end")
        await person.until(lambda: person.app.screen.is_armed)  # type: ignore[attr-defined]
        await person.press("a")
        assert len(person.answers()) == 1

    played(scenes.mid_turn, play, size)


def test_too_small_a_screen_says_so_and_a_larger_one_keeps_all() -> None:
    async def play(person: Acting) -> None:
        await person.write("a draft")
        await person.pilot.resize_terminal(30, 8)
        await person.sees("Splice needs")
        await person.pilot.resize_terminal(100, 30)
        await person.sees("a draft")

    played(scenes.mid_turn, play)


def test_hostile_text_is_marked_in_every_view() -> None:
    async def play(person: Acting) -> None:
        for key in ("f2", "f3", "f4", "f5", "f7", "f8"):
            await person.press(key)
            if key != "f8":
                await person.until(lambda: "[bold red]x[/]" in person.text().replace("\n", ""), key)
            assert person.text().replace("\n", "").isprintable(), key
        await person.press("f2")
        for row in person.app.query(CallRow):
            row.action_open()
        person.app.query_one(Chat).to_end()
        await person.write("/bold")
        await person.sees("/bold")
        assert person.text().replace("\n", "").isprintable()

    played(scenes.hostile, play, (160, 60))


def test_ascii_has_no_other_signs() -> None:
    async def play(person: Acting) -> None:
        drawn = person.text()
        for sign in "◆◐◓◑◒✓✕⊘○●▣▢▷━⋈":
            assert sign not in drawn
        await person.press("ctrl+o")
        await person.sees("<U+202E><ESC>[2J")
        await person.sees("+------")
        assert not set("╭│▎┃") & set(person.text()), "frames are ASCII too"

    played(scenes.mid_turn, play, (120, 50), look=glyphs.ASCII)


def test_escape_twice_stops_a_turn_and_interrupt_at_once() -> None:
    async def play(person: Acting) -> None:
        await person.press("escape")
        assert person.named("stop") == []
        await person.press("escape")
        assert person.named("stop") == [{}]
        await person.press("ctrl+c")
        assert len(person.named("stop")) == 2

    played(scenes.mid_turn, play)


def test_leaving_with_questions_denies_them() -> None:
    async def play(person: Acting) -> None:
        person.app.action_leave()
        await person.sees("2 wait for you.")
        await person.press("escape")
        assert person.answers() == []
        person.app.action_leave()
        await person.sees("denies them and quits")
        await person.press("q")
        await person.until(lambda: len(person.answers()) == 2)

    played(scenes.mid_turn, play)


def test_the_address_of_the_page_stands_on_one_line_to_be_copied() -> None:
    opened, again = (f"http://127.0.0.1:44915/?token={letter * 43}" for letter in "ab")

    async def page() -> str:
        return again

    async def play(person: Acting) -> None:
        await person.sees(opened)
        person.app.page = page
        await person.press("ctrl+p", *"page", "enter")
        await person.sees(again)

    played(scenes.empty, play, (110, 40), address=opened)


def test_the_palette_finds_and_does_and_tabs_are_clicked() -> None:
    async def page() -> str:
        return "http://127.0.0.1:8/?token=t"

    async def play(person: Acting) -> None:
        await person.press("ctrl+p")
        await person.write("restart cal")
        await person.sees("F3, r")
        await person.press("enter")
        assert person.named("restart_server") == [{"name": "calendar"}]
        person.app.page = page
        await person.press("ctrl+p")
        await person.write("same in the brow")
        await person.press("enter")
        await person.until(lambda: any("?token=t\n" in each.message for each in person.app._notifications))
        await person.press("f1")
        await person.sees("cancel this call")
        await person.press("escape")
        await person.pilot.click("#tab-servers")
        assert person.app.query_one("#tab-servers", Tab).has_class("-here")
        await person.press("escape")
        assert person.app.view == "chat"

    played(scenes.mid_turn, play)


async def test_what_changes_while_the_app_ends_is_not_shown_any_more() -> None:
    async with acting(scenes.mid_turn) as person:
        pass
    person.app.apply(person.stage.board.since())


def test_keys_that_are_drawn_can_be_clicked() -> None:
    async def clicks(person: Acting, words: str) -> None:
        for row, line in enumerate(person.text().splitlines()):
            if words in line:
                await person.pilot.click(offset=(line.index(words), row))
                return
        raise AssertionError(f"{words} is not on the screen")

    async def play(person: Acting) -> None:
        await clicks(person, "^O answer")
        await person.sees("1 of 2")
        await clicks(person, "]   Esc")
        await person.sees("2 of 2")
        await clicks(person, "Esc later")
        await person.until(lambda: len(person.app.screen_stack) == 1)
        assert person.answers() == []
        await person.press("f3")
        await clicks(person, "r restart")
        await person.until(lambda: person.named("restart_server") == [{"name": "travel"}])

    played(scenes.mid_turn, play)


def test_what_comes_while_the_user_reads_further_up_is_said_and_words_are_found() -> None:
    async def play(person: Acting) -> None:
        put, chat = person.stage.board.put, person.app.chat
        put(scenes.model_says(20, "\n".join(f"line {n}" for n in range(60))))
        await person.sees("line 59")
        await person.press("home")
        put(scenes.model_says(21, "a new word"))
        await person.sees("new below, End")
        assert "a new word" not in person.text()
        await person.press("end")
        await person.sees("a new word")
        await person.until(lambda: "new below" not in person.text())
        await person.press("ctrl+f")
        await person.write("FORECAST")
        await person.press("enter")
        found = person.app.focused
        assert isinstance(found, CallRow)
        assert found.call.tool == "forecast"
        await person.press("escape")
        await person.pilot.resize_terminal(80, 20)
        await person.press("end")
        await person.pilot.resize_terminal(80, 30)
        await person.pilot.resize_terminal(80, 16)
        await person.until(lambda: chat.scroll_y >= chat.max_scroll_y - 1, "it does not stay at the end")

    played(scenes.mid_turn, play)


def test_pasted_text_is_opened_where_the_cursor_is_in_it() -> None:
    async def play(person: Acting) -> None:
        lines = "\n".join(f"pasted {n}" for n in range(25))
        person.app.draft.post_message(Paste(lines.replace("\n", "\r")))  # as terminals send it
        await person.until(lambda: person.app.draft.text == "[25 lines pasted]")
        await person.press("left", "enter")
        assert person.app.draft.text == lines
        assert person.named("say") == []

    played(scenes.empty, play)


def test_a_sign_starts_servers_of_which_nothing_is_known() -> None:
    async def play(person: Acting) -> None:
        asleep = scenes.server("new", 7, state="asleep", protocol="")
        person.stage.board.put(replace(asleep, tools=0))
        await person.takes()
        await person.write("#x#")
        await person.until(lambda: person.named("start_server") == [{"name": "new"}])

    played(scenes.empty, play)


def test_rules_are_made_and_replaced() -> None:
    async def play(person: Acting) -> None:
        await person.press("f7", "n")
        await person.write("allow weather/*")
        await person.press("enter")
        assert person.named("grant") == [{"effect": "allow", "what": "weather/*"}]
        await person.press("e", "ctrl+u")
        await person.write("ask travel/*")
        await person.press("enter")
        assert person.named("grant")[1] == {"effect": "ask", "what": "travel/*"}
        assert len(person.named("revoke")) == 1
        await person.press("n")
        await person.write("let it")
        await person.press("enter")
        assert len(person.named("grant")) == 2, "that is no rule"

    played(scenes.permissions, play)


def flag(width: int = 40, height: int = 20, form: str = "PNG") -> bytes:
    """Make a picture that is red above and blue below."""
    sheet = Image.new("RGB", (width, height), "#ff0000")
    sheet.paste("#0000ff", (0, height // 2, width, height))
    kept = BytesIO()
    sheet.save(kept, form)
    return kept.getvalue()


def bomb(width: int) -> bytes:
    """Make a small file that says that it is a picture of so many pixels in a square."""
    header = struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")
    lines = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(lines)


def slow(scans: int) -> bytes:
    """Make a JPEG that is gone over again and again: 42 bytes more can take as long as all that was before."""
    file = BytesIO()
    Image.new("RGB", (20, 10), "red").save(file, "JPEG", progressive=True)
    data = file.getvalue()
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * scans + data[-2:]


@pytest.mark.parametrize("form", halfblocks.FORMATS)
def test_pictures_are_two_pixels_in_a_character(form: str) -> None:
    shown = halfblocks.draw(flag(form=form), 20, 24, paper="#000000")
    lines = shown.plain.split("\n")
    assert lines == ["▀" * 20] * 5, "half as wide, so half as high"
    red, blue = (str(shown.spans[at].style) for at in (0, -1))
    assert red.startswith("#f")
    assert blue[-2:] in ("ff", "fe")
    assert set(halfblocks.draw(flag(), 20, 24, paper="#000000", ascii=True).plain) <= set(" .:-=+*#%@\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bomb(11_000), "more than 25,000,000 pixels"),
        (bomb(60_000), "more than 25,000,000 pixels"),
        (bomb(6_000), "more than 25,000,000 pixels"),
        (b"\x89PNG\r\n\x1a\n" + bytes(40), "no picture that can be read"),
        (flag()[:60], "no picture that can be read"),
        (slow(100), "more than 100 scans"),
        (flag(form="BMP"), "no picture that can be read"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no picture that can be read"),
        (bytes(halfblocks.MAX_BYTES + 1), "16,777,217 bytes"),
    ],
)  # fmt: skip
def test_pictures_that_would_harm_are_not_decoded(data: bytes, why: str) -> None:
    tracemalloc.start()
    with pytest.raises(halfblocks.Undrawable, match=why):
        halfblocks.draw(data, 20, 24, paper="#000000")
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()


def test_many_pictures_are_drawn_one_at_a_time_and_only_in_the_width_there_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    image, under_way, widths, most = base64.b64encode(flag()).decode(), 0, list[int](), 0

    def counted(data: str, width: int, **options: Any) -> Content:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        widths.append(width)
        time.sleep(0.005)  # in a thread of its own
        under_way -= 1
        return Content("=" * 5)

    def scene(stage: Stage) -> None:
        scenes.mid_turn(stage)
        stage.board.put(scenes.model_says(10, "See.", images=[f"data:image/png;base64,{image}"] * 4))

    async def play(person: Acting) -> None:
        await person.sees("=====")
        shown = list(person.app.query(Picture))
        widths.clear()
        for width in range(20, 26):
            for each in shown:
                each.styles.width = width
            await person.pilot.pause()
        await person.until(lambda: widths[-4:] == [25] * 4)
        assert most == 1

    monkeypatch.setattr(pictures, "drawn", counted)
    played(scene, play, (120, 60))


def test_pictures_are_drawn_in_previews_results_and_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    image = base64.b64encode(flag()).decode()

    def scene(stage: Stage) -> None:
        scenes.mid_turn(stage)
        scenes.resources(stage)
        stage.contents["travel://preferences/europe"] = [
            ResourceContents(uri="x", blob=image, mime_type="image/png"),
            ResourceContents(uri="y", blob="AAEC", mime_type="application/x"),
        ]
        stage.board.change("call:3", result=[Block("image", data=image, mime_type="image/png", bytes=99)])
        urls = [f"data:image/png;base64,{image}", "data:image/png;base64,AAAA", "https://example.com/x.png"]
        stage.board.put(scenes.model_says(10, "See.", images=urls))

    async def play(person: Acting) -> None:
        await person.sees("▀" * 20)
        await person.sees("image/png is not drawn: it is no picture")
        next(row for row in person.app.query(CallRow) if row.call.tool == "forecast").action_open()
        await person.until(lambda: len(person.app.query("CallRow Picture")) == 1)
        await person.press("f5")
        person.app.screen.query_one("#resources-rows", Rows).go(6)
        await person.press("enter")
        await person.sees("▀" * 20)
        await person.sees("00 01 02")
        await person.press("space")
        person.stage.board.put(Context(id="context:now"))
        await person.takes()
        assert "▀" * 20 in person.text(), "what changes elsewhere does not close a preview"
        await person.press("up")
        assert "▀" not in person.text()
        monkeypatch.setitem(sys.modules, "splice.host.terminal.halfblocks", None)
        await person.press("down", "enter")
        await person.sees("Pictures are drawn with Pillow: pip")

    played(scene, play, (120, 60))


def test_at_rest_it_does_not_go_through_all_its_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(person: Acting) -> None:
        person.app._tick()
        walked: list[object] = []

        def walk(node: DOMNode, *_: object, **__: object) -> list[DOMNode]:
            walked.append(node)
            return []

        monkeypatch.setattr(DOMNode, "walk_children", walk)
        for _ in range(4):  # what it does in a second
            person.app._tick()
        monkeypatch.undo()
        assert walked == []

    played(scenes.servers, play)
