"""All actions, prompts, servers, chats and models in one list. Each line shows its own key, so the list teaches."""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from splice.host.items import Chat, Model, Prompt, Server
from splice.host.terminal import adding, drawn, keptchats, words
from splice.host.terminal.composer import fits
from splice.host.terminal.face import Face, face
from splice.host.terminal.hosted import Page
from splice.host.terminal.keys import VIEWS
from splice.host.terminal.line import Line
from splice.host.terminal.rows import Rows


@dataclass(frozen=True)
class Command:
    """A line of the palette."""

    name: str
    key: str
    act: Callable[[], object]


def commands(app: Face) -> Iterable[Command]:
    """List what can be done now."""
    host, board = app.host, app.host.board
    key = app.signs.of
    for view in VIEWS:
        yield Command(f"Show: {view}", key(f"app.{view}"), partial(app.show_view, view))
    yield Command("Questions: answer what waits", key("app.answer"), partial(_run, app, "answer"))
    yield Command("Chat: find words in it", key("app.find"), partial(_run, app, "find"))
    yield Command("Chat: write in your editor", key("app.editor"), partial(_run, app, "editor"))
    yield Command("Chat: take off what goes along, take back what waits", key("app.off"), partial(_run, app, "off"))
    yield Command("Chat: side columns", key("app.sides"), partial(_run, app, "sides"))
    yield Command("Chat: new", key("app.new"), partial(_do, app, host.new_chat))
    yield Command("Turn: stop", "Esc", partial(_do, app, host.stop))
    for prompt in board.all(Prompt):
        name = f"Prompt: /{prompt.name}, {prompt.title or prompt.description}"
        yield Command(name, "/", partial(app.open_prompt, prompt.id, {}))
    yield from _servers(app)
    for model in board.all(Model):
        name = f"Model: {words.label(model)} {model.where}"
        yield Command(name, key("app.settings"), partial(_do, app, host.choose_model, model.id))
    yield Command(
        "Model: look for more on this computer",
        f"{key('app.settings')}, {key('settings.find')}",
        partial(_do, app, host.find_models),
    )
    yield from _chats(app)
    if app.page is not None:
        yield Command("Page: open the same in the browser", "", partial(_page, app, app.page))
    yield Command("Keys", key("app.help"), partial(_run, app, "help"))
    yield Command("Quit", key("app.interrupt"), partial(_run, app, "leave"))


def _servers(app: Face) -> Iterable[Command]:
    """List what can be done with servers."""
    host, key = app.host, app.signs.of
    servers = key("app.servers")
    yield Command("Servers: add one", f"{servers}, {key('servers.add')}", partial(adding.add, app))
    yield Command("Servers: read their files again", "", partial(_do, app, host.reload))
    for server in host.board.all(Server):
        yield Command(
            f"Servers: restart {server.name}",
            f"{servers}, {key('servers.restart')}",
            partial(_do, app, host.restart_server, server.name),
        )
        if server.state == "login":
            yield Command(
                f"Servers: log in to {server.name}",
                f"{servers}, {key('servers.login')}",
                partial(_do, app, host.log_in, server.name),
            )


def _chats(app: Face) -> Iterable[Command]:
    """List what can be done with chats."""
    for chat in app.host.board.all(Chat):
        named = chat.title or "untitled"
        yield Command(f"Chat: rename {named}", "", partial(keptchats.rename, app, chat))
        yield Command(f"Chat: delete {named}", "", partial(keptchats.delete, app, chat))
        if not chat.is_open:
            yield Command(f"Chat: open {named}", "", partial(_do, app, app.host.open_chat, words.key_of(chat)))


def _run(app: Face, action: str) -> None:
    app.run_worker(app.run_action(action))


def _do(app: Face, command: Callable[..., Coroutine[Any, Any, Any]], *arguments: str) -> None:
    app.do(command(*arguments))


def _page(app: Face, page: Page) -> None:
    app.do(page(), app.tell_address)


class Palette(ModalScreen[Command | None]):
    """The list, and what was typed to find something in it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", show=False),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._all: list[Command] = []
        self._found: list[Command] = []

    def compose(self) -> ComposeResult:
        """Make the input and the list."""
        with Vertical(id="sheet", classes="-palette"):
            yield Line(placeholder="What to do")
            yield Rows(self._row, id="palette-rows")

    def on_mount(self) -> None:
        """Show all."""
        self._all = list(commands(face(self)))
        self._find("")
        self.query_one(Input).focus()

    def _find(self, word: str) -> None:
        self._found = [each for each in self._all if word.casefold() in each.name.casefold()]
        self._found += [each for each in self._all if each not in self._found and fits(each.name, word)]
        rows = self.query_one(Rows)
        rows.cursor = 0
        rows.set_count(len(self._found))

    def _row(self, row: int, width: int) -> Content:
        each = self._found[row]
        key = Content.styled(each.key, "bold $accent")
        return drawn.row(" ", drawn.fit(face(self).line(each.name), width - 10), " ", key)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Find what fits."""
        self._find(event.value)

    def on_input_submitted(self) -> None:
        """Do what the cursor is on."""
        rows = self.query_one(Rows)
        self.dismiss(self._found[rows.cursor] if self._found else None)

    def on_rows_chosen(self) -> None:
        """Do what was chosen."""
        self.on_input_submitted()

    def action_move(self, by: int) -> None:
        """Move the cursor, while the input keeps the focus."""
        self.query_one(Rows).action_move(by)

    def action_back(self) -> None:
        """Close it."""
        self.dismiss(None)
