"""The parts of the host, made and put together; what all commands share; opening and closing.

Opening reads files. It starts no server, and asks no model.
"""

import asyncio
import os
from collections import deque
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, cast

from msgspec.structs import replace

from splice import Client, MCPError
from splice.host import items
from splice.host.addresses import host_of
from splice.host.around import Around
from splice.host.asked import Filled, Form
from splice.host.asking.approvals import Approvals
from splice.host.asking.permissions import Permissions, reads_of
from splice.host.asking.policy import Policy
from splice.host.asking.questions import Questions
from splice.host.asking.roots import Roots
from splice.host.asking.sampling import Samplings
from splice.host.asking.unattended import Answers
from splice.host.asking.visited import Visited
from splice.host.board import Board
from splice.host.config.entries import Entry, variables_in
from splice.host.config.inputs import Input, Inputs
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import Configuration, entry_of
from splice.host.config.variables import filled
from splice.host.connecting.connections import Connection, Connections, Unavailable
from splice.host.connecting.trust import Trusted
from splice.host.failing import HostError
from splice.host.models.base import Model, ModelFailed
from splice.host.models.catalogue import Catalogue, is_file
from splice.host.models.replay import ReplayModel, cassette
from splice.host.options import HostOptions
from splice.host.parts import Parts
from splice.host.places import Places, places
from splice.host.records.activity import Activity
from splice.host.records.history import History, HistoryFailed, Saved
from splice.host.records.logged import LoggedQuestions
from splice.host.services import Services
from splice.host.settings import Settings
from splice.host.text import one_line
from splice.host.tools.discovery import Discovery
from splice.host.tools.pins import Pins
from splice.host.tools.registry import Registry, Wanted
from splice.host.tools.results import Results
from splice.host.turns.attachments import Attachments
from splice.host.turns.conversation import Conversation, Numbers
from splice.host.turns.turn import Turn
from splice.types import CreateMessageParams, CreateMessageResult

NEW = "New chat"
"""The title of a chat until the first message names it."""

MAX_NOTICES = 20
"""How many short words of the host stand on the board; the oldest go."""

CLOSE_SECONDS = 15.0
"""How long closing may take in all. Servers that do not end by then are left to the system."""

_COMING = ("asleep", "starting")
"""States of a server from which it may come up by itself."""


class Engine:
    """Holds the parts. `Host` is this with its commands."""

    def __init__(self, configured: Configuration, options: HostOptions) -> None:
        home = options.get("home")
        self.cwd = Path(options.get("cwd") or Path.cwd()).absolute()
        self.places: Places = places() if home is None else Places.under(Path(home).expanduser().absolute())
        self.board = Board()
        self.numbers = Numbers()
        self.settings = Settings(self.places.config / "settings.json")
        self.activity = Activity(self.places.state / "activity", self.board)
        self.is_headless = options.get("policy") == "headless"
        self.answers = Answers(options.get("answers")) if self.is_headless or "answers" in options else None
        self.questions: Questions = LoggedQuestions(self.board, self.activity, self.answers)
        self._options, self._configured = options, configured
        self._turn: Turn | None = None
        self._running: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[Any] | None = None
        self.is_closing = False
        self._chat: Conversation | None = None
        self._fingerprints: dict[str, str] = {}
        self._notices: deque[str] = deque()
        self._telling: set[asyncio.Task[None]] = set()
        self._make_parts()

    def _make_parts(self) -> None:
        """Make the parts that need others. Nothing runs yet."""
        board, state = self.board, self.places.state
        self.permissions = Permissions(board, self.places.config / "permissions.json", identity=self._identity)
        policy = self._policy = Policy(self.permissions, is_headless=self.is_headless)
        pins = Pins(state / "pins.json", lambda text: self.notice(text, "bad"))
        registry = Registry(board, pins, announce=self.announce, holds_new=lambda: self.settings["holds_new_tools"])
        self.trusted = Trusted(state / "trust.json")
        self.catalogue = Catalogue(board, self.settings["models"], os.environ)
        self.services = Services(board, self.activity, self.questions, registry, self.trusted, self.announce)
        self.services.folders = Roots(board, self.questions, self._roots_changed)
        self.inputs = Inputs(state / "inputs.json", self._configured.inputs, self._ask_input)
        self.parts = Parts(
            board=board,
            activity=self.activity,
            settings=self.settings,
            connections=Connections(board, self.services, self.places, self.inputs.value),
            registry=registry,
            discovery=Discovery(registry),
            questions=self.questions,
            approvals=Approvals(board, self.questions, policy, trusts=self._trusts),
            results=Results(self.settings["result_tokens"]),
        )
        self.attachments = Attachments(board, self.parts.connections)
        self.services.on_start = self._started
        self.services.on_update = self.attachments.updated
        self.services.elicitation.known = self._hosts
        visited = Visited(state / "visited.json")
        self.services.elicitation.has_sent = lambda server, host: visited.has(self._identity(server), host)
        self.services.elicitation.sent = lambda server, host: visited.add(self._identity(server), host)
        around = Around(self.catalogue, self.parts.connections, lambda: self.chat, self.services.record)
        self._samplings = Samplings(board, self.questions, policy, around)
        self.services.sample_for = self._sample

    @property
    def chat(self) -> Conversation:
        """The open chat. Raises `HostError` if the host is not open."""
        if self._chat is None:
            raise HostError("The host is not open: use it with `async with`")
        return self._chat

    @property
    def model_id(self) -> str:
        """The id of the chosen model."""
        return self.catalogue.chosen

    async def model(self) -> Model:
        """Make the chosen model. Raises `ModelFailed`."""
        return await self.catalogue.model()

    async def _sample(self, server: str, params: CreateMessageParams) -> CreateMessageResult | None:
        with suppress(ModelFailed):  # then there is none to choose from, and the server is told so
            await self.model()
        return await self._samplings.sample(server, params)

    def _roots_changed(self, server: str) -> None:
        """Tell a server that runs that its folders changed."""
        client = self.parts.connections[server].running if server in self.parts.connections else None
        if client is not None:
            self._in_background(_told_of_roots(client))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _hosts(self, _server: str) -> list[str]:
        """List the hosts of the servers that are configured: others may imitate them."""
        return [host_of(each.entry.url) for each in self.parts.connections if each.entry.url]

    def _identity(self, server: str) -> str:
        """Tell which server has a name now; permissions are for that one."""
        return self._fingerprints.get(server, "")

    def _trusts(self, server: str) -> bool:
        return self.trusted.is_trusted(self.parts.connections[server].entry)

    async def _ask_input(self, wanted: Input) -> str | None:
        """Let the user type what a configuration file leaves open. It is a secret from now on."""
        field: dict[str, Any] = {"type": "string", "title": one_line(wanted.description or wanted.id)}
        if wanted.options:
            field["enum"] = list(wanted.options)
        if wanted.default is not None:
            field["default"] = wanted.default
        schema = {"type": "object", "properties": {wanted.id: field}, "required": [wanted.id]}
        asked = Form(message=f"{wanted.source} needs a value: {one_line(wanted.id)}", schema=schema)
        answer, _ = await self.questions.ask("", replace(asked, secrets=[wanted.id] if wanted.password else []))
        if not isinstance(answer, Filled) or answer.action != "accept":
            return None
        value = str(answer.content[wanted.id])
        self.activity.redaction.hide([value])
        return value

    # Opening and closing.

    async def open(self) -> None:
        """Open the files, and show what is known from them. Raises `HostError` if they cannot be used."""
        try:
            self.history = await asyncio.to_thread(History, self.places.state / "chats.db")
        except HistoryFailed as error:
            raise HostError(str(error)) from error
        try:
            self._begin()
            self._in_background(self.parts.connections.start_eager())
            self._watching = asyncio.get_running_loop().create_task(self.permissions.watch())
        except BaseException:
            self.history.close()
            self.activity.close()
            raise

    async def close(self) -> None:
        """Close the host: questions are cancelled, the turn is stopped, servers end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._close()
        self.leave_chat()
        self.activity.record("host", state="closed")
        self.activity.close()
        self.history.close()

    def _begin(self) -> None:
        """Show everything that is known from files."""
        self.activity.record("host", state="open", folder=str(self.cwd))
        for problem in (*self._configured.problems, *self.settings.problems, *self.catalogue.problems):
            self.notice(problem, "warn")
        if self.history.problem:
            self.notice(self.history.problem, "bad")
        self.apply_settings()
        self._show_chats()
        for root in self._options.get("roots", ()):
            self.add_folder(root)
        for kept in self.settings["roots"]:
            try:
                self.add_folder(kept)
            except HostError as error:
                self.notice(str(error), "warn")
        servers = self._options.get("servers", {})  # what a program gives goes before what files say
        for entry in self._configured.entries:
            if entry.name not in servers:
                self.add_entry(entry)
        for name, given in servers.items():
            self._add_given(name, given)
        self.permissions.all()  # anew, now that it is known which servers have the names in them
        self._choose()

    def leave_chat(self) -> None:
        """Take the open chat off the board. One in which nothing was said is not kept."""
        chat = self._chat
        if chat is None:
            return
        chat.hide()
        if chat.messages or chat.title != NEW:
            chat.save()
            chat.mark(is_open=False)
        else:
            self.board.drop(f"chat:{chat.id}")
            with suppress(HistoryFailed):
                self.history.delete(chat.id)

    def _show_chats(self) -> None:
        """Put the chats on the board. An empty one belongs to another host, which is open or has crashed."""
        for saved in self.history.chats():
            if saved.turn or saved.title != NEW:
                self.show_chat(saved)

    async def _close(self) -> None:
        self.is_closing = True
        if self._watching is not None:
            self._watching.cancel()
        self.questions.close()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        with suppress(OSError):
            self.permissions.flush()
        await self.parts.connections.close()

    # Servers.

    def add_entry(self, entry: Entry, target: Any = None) -> None:
        """Show a server."""
        self.configure(entry)
        self.parts.connections.add(entry, target=target)

    def configure(self, entry: Entry) -> None:
        """Say how a server is configured. What that puts into environments and headers is a secret from now on."""
        self._hide_values(entry)
        tools = entry.options.tools
        self._fingerprints[entry.name] = entry.fingerprint
        self.parts.registry.configure(entry.name, Wanted(entry.fingerprint, tools.include, tools.exclude))
        if entry.options.trust_annotations:
            self.permissions.grant("allow", reads_of(entry.name), chat="")

    def _hide_values(self, entry: Entry) -> None:
        """Keep the values of environments and headers out of the log, and those that variables stand for."""
        named = [os.environ.get(name, "") for text in entry.words for name in variables_in(text)]
        with suppress(BadConfiguration):  # then it cannot be started either
            entry = entry if entry.needs_trust and not self.trusted.is_trusted(entry) else filled(entry, {})
        headers = [part for value in entry.headers.values() for part in (value, value.partition(" ")[2])]
        self.activity.redaction.hide([*named, *entry.env.values(), *headers])

    def _started(self, server: str) -> None:
        """Hide what was not known before: a file of variables may be another by now."""
        self._hide_values(self.parts.connections[server].entry)

    def _add_given(self, name: str, given: Any) -> None:
        """Add a server that a program gave: an entry of a file, or anything that a `Client` takes."""
        if isinstance(given, Mapping):
            self.add_entry(entry_of(name, dict(cast("Mapping[str, Any]", given)), folder=self.cwd))
        elif isinstance(given, Entry):
            self.add_entry(replace(given, name=name))
        elif isinstance(given, str):
            self.add_entry(entry_of(name, {"url": given}, folder=self.cwd))
        else:
            self.add_entry(Entry(name=name, transport="memory"), given)

    def forget(self, server: str) -> None:
        """Take away all that a server offered."""
        self.parts.registry.forget(server)
        self._fingerprints.pop(server, None)

    def _choose(self) -> None:
        """Choose the model of the options, else the one that was chosen last. Raises `HostError`."""
        given = self._options.get("model") or self.settings["model"]
        try:
            if record := self._options.get("record"):
                self.catalogue.cassette = cassette(record)
            if given and not isinstance(given, str):
                self.catalogue.add(given)
            elif isinstance(given, str) and self._options.get("model") and is_file(given):
                self.catalogue.add_file(given)
            elif isinstance(given, str) and self._options.get("model") and given.endswith(".jsonl"):
                self.catalogue.add(ReplayModel(given, id=given))
            if given:
                self.catalogue.choose(given if isinstance(given, str) else given.id)
        except ModelFailed as error:
            if self._options.get("model"):
                raise HostError(error.message) from error
            self.notice(error.message, "warn")
        except (OSError, ValueError) as error:
            raise HostError(f"The cassette cannot be used: {error}") from error

    async def wake(self, seconds: float) -> None:
        """Start the servers that are not known or not trusted, and wait, but not for ever. Who is late joins later."""
        coming = [each for each in self.parts.connections if each.state in _COMING]
        unknown = [each for each in coming if each.manifest is None or not self._trusts(each.entry.name)]
        if unknown:
            starting = [asyncio.ensure_future(_started(each)) for each in unknown]
            _, late = await asyncio.wait(starting, timeout=seconds)
            names = [each.entry.name for each, task in zip(unknown, starting, strict=True) if task in late]
            if names:
                self.announce("", f"Not ready yet, and will join when they are: {', '.join(map(one_line, names))}")

    def add_folder(self, path: str | Path) -> items.Root:
        """Tell servers of a folder. Raises `HostError`."""
        try:
            return self.services.folders.add(self.cwd / Path(path).expanduser())
        except ValueError as error:
            raise HostError(str(error)) from error
        except (OSError, RuntimeError) as error:  # it is too long, or of a user that there is not
            raise HostError(f"{one_line(str(path))[:300]} cannot be told of: {error}") from error

    # The board.

    def notice(self, text: str, level: Literal["ok", "info", "warn", "bad"] = "info", server: str = "") -> None:
        """Say something in passing. It is written down too: a face shows it for a moment only."""
        self.activity.record("notice", server=server, text=text, level=level)
        notice = items.Notice(id=f"notice:{self.numbers.new()}", text=text, level=level, server=server)
        self.board.put(notice)
        self._notices.append(notice.id)
        if len(self._notices) > MAX_NOTICES:
            self.board.drop(self._notices.popleft())

    def announce(self, server: str, text: str) -> None:
        """Say something about a server in the chat, if there is one, and in passing."""
        if self._chat is not None:
            self._chat.line(text, server)
        else:
            self.notice(text, server=server)

    def apply_settings(self) -> None:
        """Let the settings hold from now on, and put them on the board."""
        self.activity.redaction.keeps_bodies = self.settings["keeps_bodies"]
        self.parts.results.most_tokens = self.settings["result_tokens"]
        # Headless, a rule was given for this one run, and meant for it: asking again would deny all it allows.
        self._policy.asks_when_tainted = self.settings["asks_after_outside"] and not self.is_headless
        self.board.put(items.Settings(id="settings:now", values=self.settings.values()))

    def show_chat(self, saved: Saved, *, is_open: bool = False) -> None:
        """Put a chat on the board."""
        item = items.Chat(id=f"chat:{saved.id}", title=saved.title, is_open=is_open, turn=saved.turn)
        self.board.put(replace(item, created=saved.created, changed=saved.changed))


async def _told_of_roots(client: Client) -> None:
    with suppress(MCPError):
        await client.roots_changed()


async def _started(connection: Connection) -> None:
    """Start a server. What comes of it is on the board."""
    with suppress(Unavailable):
        await connection.client()
