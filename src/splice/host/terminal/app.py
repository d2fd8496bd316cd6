"""The full-screen app: views, the composer, and questions as dialogs, over the board of the host."""

import time
from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.notifications import SeverityLevel
from textual.widgets import ContentSwitcher, Input, Static, TextArea

from splice.host.asked import Answer
from splice.host.board import Batch
from splice.host.items import Chat as ChatItem
from splice.host.items import Notice, Prompt, Question, Server, Settings, Tool
from splice.host.terminal import glyphs, keyfile, leaving, sending, theme
from splice.host.terminal.activity import ActivityPanel
from splice.host.terminal.along import Along
from splice.host.terminal.asides import AskLine
from splice.host.terminal.bars import Beside, Footer, Queue, Side, Top
from splice.host.terminal.chat import Chat
from splice.host.terminal.composer import Composer, Offers
from splice.host.terminal.face import Face, Shows
from splice.host.terminal.helping import Help
from splice.host.terminal.hosted import Hosted
from splice.host.terminal.keys import VIEWS, Signs, bindings
from splice.host.terminal.palette import Command, Palette
from splice.host.terminal.panels import Panel
from splice.host.terminal.permissions import PermissionsPanel
from splice.host.terminal.resources import ResourcesPanel
from splice.host.terminal.saying import Saying
from splice.host.terminal.servers import ServersPanel
from splice.host.terminal.settings import SettingsPanel
from splice.host.terminal.terminal import edit
from splice.host.terminal.tools import ToolsPanel
from splice.host.terminal.waiting import Questions

QUIET_SECONDS = 1.5
"""How long no key was pressed before a question opens by itself, over an empty composer."""

TWICE_SECONDS = 2.0
"""Within how long a second Esc stops the turn, and a second Ctrl-C quits."""

LEVELS: dict[str, SeverityLevel] = {"ok": "information", "info": "information", "warn": "warning", "bad": "error"}


class Splice(Face, inherit_bindings=False):
    """The app. It ends with an exit code."""

    CSS_PATH = "splice.tcss"
    TITLE = "Splice"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("app"),
        *(Binding(str(n), f"view('{v}')", v.title(), show=False) for n, v in enumerate(VIEWS, 1)),
        Binding("escape", "escape", "Back, stop", show=False),
        *(Binding(key, f"scroll_chat('{key}')", show=False) for key in ("pageup", "pagedown", "home", "end")),
    ]

    def __init__(self, host: Hosted, *, look: glyphs.Glyphs = glyphs.UNICODE, theme_name: str = "splice-dark") -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-none"), (40, "-tiny"), (72, "-narrow"), (100, "-normal"), (150, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-nothing"), (10, "-low"), (16, "-short"), (30, "-tall")]
        self.host, self.glyphs = host, look
        self.signs = Signs()
        self._complaints: list[str] = []
        self.set_class(look.is_ascii, "-ascii")
        for each in theme.THEMES:
            self.register_theme(each)
        self.theme = theme_name
        self.view = "chat"
        self._questions = Questions(self)
        self._key_at = self._escape_at = self._interrupt_at = -TWICE_SECONDS
        self._noted: set[str] = set()
        self._woken: set[str] = set()
        self.first = ""
        """What the user finds when it starts, to look at and send: a line, or the form of the prompt that it names."""
        self.opens_alone = True
        """Questions open by themselves, where that steals nothing."""

    def change_keys(self, found: keyfile.Read) -> None:
        """Take the keys that the user set; what did not fit is said once the app runs."""
        self.signs = Signs(found.keys)
        self.set_keymap(found.keys)
        self._complaints = found.problems

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give the names of ours their colours until a theme is set."""
        return theme.FALLBACKS

    def compose(self) -> ComposeResult:
        """Make the screen."""
        yield Static("Splice needs 40x10; --plain needs nothing", id="small")
        with Vertical(id="all"):
            yield Top(id="top")
            with Horizontal(id="main"):
                yield Side(id="side")
                with ContentSwitcher(initial="chat", id="views"):
                    yield Chat()
                    yield ServersPanel()
                    yield ToolsPanel()
                    yield ResourcesPanel()
                    yield ActivityPanel()
                    yield PermissionsPanel()
                    yield SettingsPanel()
                yield Beside(id="beside")
            with Vertical(id="below"):
                yield Queue(id="queue")
                yield Along()
                yield Offers()
                with Horizontal(id="compose"):
                    yield Static(self.glyphs.prompt, id="caret")
                    yield Composer()
            yield Footer(id="keys")

    def on_mount(self) -> None:
        """Follow the board."""
        self.run_worker(self._follow(), name="board")
        self.set_interval(0.25, self._tick)
        self.show_view("chat")
        for each in self._complaints:
            self.tell(each, "warning")
        if self.first:
            self.call_after_refresh(sending.begin, self, self.first)

    async def _follow(self) -> None:
        async for batch in self.host.board.watch():
            self.apply(batch)

    def apply(self, batch: Batch) -> None:
        """Show a batch of changes: each part takes what is its own. Nothing happens once the app ends."""
        if not self.is_running:
            return
        items = [event.item for event in batch.events if event.item is not None]
        gone = [event.id for event in batch.events if event.item is None]
        everything = batch.everything or batch.number == len(batch.events)
        with self.batch_update():
            for part in self.screen_stack[0].query("*").results():
                if isinstance(part, Shows):
                    part.follow(items, gone, everything=everything)
        for item in items:
            if isinstance(item, Notice) and item.id not in self._noted:
                self._noted.add(item.id)
                self.tell(item.text, LEVELS[item.level])
            elif isinstance(item, Settings):
                self.settle(item.values)
        if any(isinstance(item, Prompt | Tool | Server) for item in items) and self.view == "chat":
            self.draft.want()
        self._questions.changed()
        if any(isinstance(item, Question) for item in items) and not self.app_focus:
            self.bell()

    def _tick(self) -> None:
        for screen in self.screen_stack[:1]:  # none any more while the app ends
            chat = screen.query_one_optional(Chat)  # which remembers what it found; `query` goes through all widgets
            if chat is not None:
                if self.is_moving and self.view == "chat" and chat.runs():
                    chat.turn_marks()
                self._open_alone()

    def _open_alone(self) -> None:
        """Open a question by itself, if that steals nothing: no text is written, no key was pressed for a while."""
        quiet = time.monotonic() - self._key_at >= QUIET_SECONDS
        question = self._questions.fresh()
        is_alone = len(self.screen_stack) == 1 and self.view == "chat"
        if self.opens_alone and question is not None and quiet and is_alone and not self.draft.text:
            self._questions.open(question)

    def settle(self, values: Mapping[str, object]) -> None:
        """Move nothing, if the user wants that."""
        self.is_moving = not values.get("reduced_motion")
        self.animation_level = "full" if self.is_moving else "none"
        self.draft.cursor_blink = self.is_moving

    @property
    def draft(self) -> Composer:
        """Where the user writes."""
        return self.screen_stack[0].query_one(Composer)

    @property
    def chat(self) -> Chat:
        """The chat."""
        return self.screen_stack[0].query_one(Chat)

    def on_key(self) -> None:
        """Note when a key was pressed."""
        self._key_at = time.monotonic()

    def is_busy(self) -> bool:
        """Tell whether a turn is under way."""
        return any(each.is_busy for each in self.host.board.all(ChatItem) if each.is_open)

    # What widgets ask of the app.

    def give(self, question: str, answer: Answer) -> None:
        """Answer a question, and show the next one."""
        before = self.now(lambda: self.host.answer(question, answer, "terminal"))
        if before:
            self.tell(f"Too late: {before} answered before.", "warning")
        self.call_after_refresh(self._questions.answered, question)

    def leaf(self, question: str, by: int) -> None:
        """Open the question before or after another one."""
        self.call_after_refresh(self._questions.leaf, question, by)

    def show_view(self, name: str, *, pick: str = "") -> None:
        """Show a view."""
        while len(self.screen_stack) > 1:
            self._questions.put_aside()
            self.pop_screen()
        self.view = name
        base = self.screen_stack[0]
        base.query_one("#views", ContentSwitcher).current = name
        base.set_class(name != "chat", "-panel")
        base.query_one(Top).here(name)
        base.query_one(Footer).show(name)
        if name == "chat":
            self.draft.focus()
        else:
            base.query_one(f"#{name}", Panel).open(pick)

    def last_said(self) -> str:
        """Return what the user said last."""
        return self.chat.last_said()

    def compose_text(self, text: str) -> None:
        """Put a text into the composer."""
        self.show_view("chat")
        self.draft.load_text(text)
        self.draft.move_cursor(self.draft.document.end)

    def open_prompt(self, id: str, arguments: dict[str, str], rest: str = "") -> None:
        """Open the form of a prompt; one without arguments is said at once."""
        sending.open_prompt(self, id, arguments, rest)

    # The composer.

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Send what was written."""
        self.send(event.text)

    def send(self, text: str) -> None:
        """Say a text, or open the form of the prompt that it names."""
        self.chat.to_end()
        sending.send(self, self.draft, text)

    def say(self, saying: Saying) -> None:
        """Say something, now or when the turn is over."""
        self.screen_stack[0].query_one(Along).say(saying)

    def on_text_area_changed(self) -> None:
        """Note that a key was pressed in a field."""
        self._key_at = time.monotonic()

    def on_composer_wanted(self, event: Composer.Wanted) -> None:
        """Offer what fits the word."""
        if event.sign:
            self._wake()
        self.screen_stack[0].query_one(Offers).show(sending.offers(self, event))

    def _wake(self) -> None:
        """Start the servers of which nothing is known yet: what is offered would else be empty."""
        for each in self.host.board.all(Server):
            is_known = each.is_remembered or each.protocol or each.id in self._woken
            if each.state == "asleep" and not is_known:
                self._woken.add(each.id)
                self.do(self.host.start_server(each.name))

    def on_chat_below(self, event: Chat.Below) -> None:
        """Say that something new is below."""
        self.screen_stack[0].query_one(Queue).below(is_new=event.is_new)

    def action_find(self) -> None:
        """Find words in the chat."""

        def find(text: str | None) -> None:
            if text:
                self.show_view("chat")
                self.chat.find(text)

        if len(self.screen_stack) == 1:
            self.push_screen(AskLine(Content("Find in this chat")), find)

    def on_composer_taken(self, event: Composer.Taken) -> None:
        """Attach a resource that was taken."""
        if event.offer.sign == "@":
            server, _, uri = event.offer.id.partition(" ")
            self.do(self.host.attach(server, uri))

    # Actions.

    def action_view(self, name: str) -> None:
        """Show a view."""
        self.show_view(name)

    def action_press(self, key: str) -> None:
        """Press a key, for a click on its sign. In the composer a sign is written."""
        written = {"slash": "/", "at": "@"}.get(key, "")
        if written and self.focused is self.draft:
            self.draft.insert(written)
        else:
            self.simulate_key(key)

    def action_help(self) -> None:
        """Show the keys."""
        if not isinstance(self.screen, Help):
            self.push_screen(Help(self.view))

    def action_palette(self) -> None:
        """Show all commands."""

        def act(command: Command | None) -> None:
            if command is not None:
                command.act()

        self.push_screen(Palette(), act)

    def action_answer(self) -> None:
        """Open the first question that waits."""
        waiting = self._questions.waiting()
        if waiting and len(self.screen_stack) == 1:
            self._questions.open(waiting[0])

    def action_new(self) -> None:
        """Begin a chat."""
        self.do(self.host.new_chat(), lambda _: self.show_view("chat"))

    def action_off(self) -> None:
        """Take off what goes along with the next message, or take back what waits."""
        if len(self.screen_stack) == 1 and self.view == "chat":
            self.screen_stack[0].query_one(Along).take_off()

    def action_sides(self) -> None:
        """Show or hide the side columns; where there is no room, lay the servers beside the chat."""
        base = self.screen_stack[0]
        base.toggle_class("-aside-on" if self.size.width < 100 else "-aside-off")

    async def action_editor(self) -> None:
        """Write in the user's editor."""
        edited = await edit(self, self.draft.whole())
        if edited is not None:
            self.compose_text(edited)

    def action_scroll_chat(self, key: str) -> None:
        """Scroll the chat by a page, to its beginning or its end."""
        self.chat.turn_page(key)

    def action_escape(self) -> None:
        """Go back to the chat, to the composer; in a turn, twice: stop it."""
        now = time.monotonic()
        if now - self._questions.closed < self.guard:
            return
        if self.view != "chat":
            self.show_view("chat")
        elif not self.draft.has_focus:
            self.draft.focus()
        elif self.is_busy():
            if now - self._escape_at <= TWICE_SECONDS:
                self.do(self.host.stop())
            else:
                self.tell("Esc again stops the turn.")
            self._escape_at = now

    def action_interrupt(self) -> None:
        """Copy what is marked; else stop the turn; idle, twice: quit."""
        field = self.focused
        written = field.selected_text if isinstance(field, Input | TextArea) else ""
        marked = written or self.screen.get_selected_text()
        now = time.monotonic()
        if marked:
            self.copy_to_clipboard(marked)
            self.tell("Copied.")
        elif self.is_busy():
            self.do(self.host.stop())
        elif now - self._interrupt_at <= TWICE_SECONDS:
            self.action_leave()
        else:
            self._interrupt_at = now
            self.tell("^C again quits.")

    def action_leave(self) -> None:
        """Quit. Questions that wait are denied, if the user says so."""
        leaving.leave(self)

    def _handle_exception(self, error: Exception) -> None:
        """Fail, but not while the app ends: parts vanish in any order then, and keys come to no screen."""
        if self.is_running:
            super()._handle_exception(error)

    def on_resize(self) -> None:
        """Draw again what depends on the width."""
        if self.is_running and self.screen_stack:
            self.call_after_refresh(self._resized)

    def _resized(self) -> None:
        for footer in self.screen_stack[0].query(Footer):
            footer.show(self.view)
