"""Commands of the host about chats: say something, wait, stop, and open another chat."""

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.structs import replace

from splice.host.engine import NEW
from splice.host.failing import HostError
from splice.host.items import Attached, Call, Message, Model, Prompt, Tool
from splice.host.records.faults import fault_of
from splice.host.records.history import HistoryFailed, Saved
from splice.host.reloading import Reloading
from splice.host.text import one_line, size, whole
from splice.host.turns import branching, fetching, metering
from splice.host.turns.conversation import Conversation
from splice.host.turns.quoting import of_prompt, pictures_of, text_of
from splice.host.turns.turn import Turn
from splice.types import AudioContent, EmbeddedResource, ImageContent, SamplingMessage, TextContent

T = TypeVar("T")

MAX_SAID = 400_000
"""How many characters the user may say at once."""

MAX_DATA = 12_000_000
"""How many bytes of Base64 the pictures and recordings of a prompt may have."""

MAX_TITLE = 60

BRANCH = ", branch"
"""How the title of a chat ends that was begun from another one."""

START_SECONDS = 15.0
"""How long a turn waits at its beginning for servers whose tools are not known yet. Later they join it."""


class Chats(Reloading):
    """The commands about chats."""

    async def say(
        self, text: str = "", *, prompt: str = "", arguments: dict[str, str] | None = None, tool: str = ""
    ) -> int:
        """Say something, or a prompt of a server (``travel/plan-vacation``), which begins a turn. Returns its number.

        With `tool`, the id of a tool, the model has to begin with a call of that one.
        """
        self._check_idle()
        text = whole(text)
        if not (text.strip() or prompt):
            raise HostError("There is nothing to say yet")
        first = self._named(tool)
        messages, outside = await self._prepared(self._fetched(prompt, arguments or {}))
        if text.strip() or messages[-1].role != "user":
            messages.append(SamplingMessage(role="user", content=[TextContent(text=text.strip() or "Go on.")]))
        _check_size(messages)
        blocks, attached = self.attachments.take()
        self.chat.turn += 1
        self._show_said(messages, prompt, attached)
        if blocks:
            messages[-1] = SamplingMessage(role="user", content=[*messages[-1].blocks, *blocks])
        self.chat.save(messages)
        if self.chat.title == NEW:
            named = self.board.get(f"prompt:{prompt}", Prompt)
            with suppress(HostError):  # the disk refuses, which `save` has said, or another host deleted the chat
                await self.rename_chat(self.chat.id, text or (named.title if named else "") or prompt)
        turn = Turn(self.parts, self.chat, self.model, first)
        for server in (*outside, *(each.server for each in attached)):
            turn.taint.add(server)
        return self._begin_turn(turn)

    async def wait(self) -> Message:
        """Wait until the turn is over, and return what was said last; lines about servers do not count."""
        running = self._running
        if running is not None:
            await asyncio.wait([running])
        said = [each for each in self.board.all(Message) if each.chat == self.chat.id and not each.server]
        if not said:
            raise HostError("Nothing was said yet")
        return max(said, key=lambda message: int(message.id.rpartition(":")[2]))

    async def stop(self) -> None:
        """Stop the turn: the model is not heard any longer, calls are cancelled, questions withdrawn.

        What is to be said, and waits for a server's prompt, is not said.
        """
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.wait([self._preparing])
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def cancel(self, call: str) -> None:
        """Cancel one call; the turn goes on."""
        if self._turn is None or not self._turn.calls.cancel(call):
            raise HostError("This call is not under way")

    async def new_chat(self) -> str:
        """Begin a chat and open it. Returns its id."""
        self._check_idle()
        saved = self._kept(lambda: self.history.begin(secrets.token_hex(8), NEW))
        self._open(saved)
        return saved.id

    async def open_chat(self, id: str) -> None:
        """Open a chat: what was said in it stands on the board, and the model is told of it."""
        self._check_idle()
        self._open(self._saved(id))

    async def branch(self, turn: int, again: bool = False) -> str:
        """Begin a chat with what was said in the open one up to the end of a turn, and open it. Returns its id.

        With `again`, the model takes that turn anew there. What its calls did stays done, in the chat as it was.
        """
        self._check_idle()
        title, told = f"{self.chat.title.removesuffix(BRANCH)}{BRANCH}", self.chat.messages
        board: list[Message | Call] = [*self.board.all(Message), *self.board.all(Call)]
        known = [each for each in board if each.chat == self.chat.id]
        messages = told[: branching.messages(told, known, turn, again)]
        items = branching.shown(known, turn, again)
        saved = self._kept(lambda: self.history.begin(secrets.token_hex(8), _fit(title)))
        self._kept(lambda: self.history.add(saved.id, messages, turn))
        self._kept(lambda: self.history.keep(saved.id, [replace(each, chat=saved.id) for each in items]))
        self._open(self._saved(saved.id))
        if again:
            anew = Turn(self.parts, self.chat, self.model)
            for each in items:
                if isinstance(each, Message) and each.turn == turn:
                    outside = [each.prompt.partition("/")[0]] if each.prompt else []
                    for server in (*outside, *(one.server for one in each.attached)):
                        anew.taint.add(server)
            self._begin_turn(anew)
        return saved.id

    async def rename_chat(self, id: str, title: str) -> None:
        """Give a chat another title."""
        title = _fit(one_line(title))
        if not title:
            raise HostError("A chat needs a title")
        self._saved(id)
        self._kept(lambda: self.history.rename(id, title))
        if id == self.chat.id:
            self.chat.title = title
        self.board.change(f"chat:{id}", title=title)

    async def delete_chat(self, id: str) -> None:
        """Delete a chat. If it is the open one, a new one begins."""
        self._saved(id)
        if id == self.chat.id:
            self._check_idle()
        self._kept(lambda: self.history.delete(id))
        self.permissions.end_chat(id)
        self.board.drop(f"chat:{id}")
        if id == self.chat.id:
            await self.new_chat()

    # Parts of them.

    def _check_idle(self) -> None:
        if self._preparing is not None or self._running is not None:
            raise HostError("A turn is under way: wait for it, or stop it")

    def _named(self, tool: str) -> str:
        """Find the name that the model sees for the id of a tool. Raises `HostError`."""
        if not tool:
            return ""
        item = self.board.get(tool, Tool)
        if item is None or not item.is_on or item.held is not None:
            raise HostError(f"There is no tool {one_line(tool)} that could be called now")
        return item.called

    async def _prepared(self, fetching: Coroutine[Any, Any, T]) -> T:
        """Wait for what is to be said; nobody else begins meanwhile. Raises `HostError` when `stop` ends it."""
        work = asyncio.get_running_loop().create_task(fetching)
        self._preparing = work
        self.chat.mark(is_busy=True)
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()  # who waits for it may be cancelled
            self._preparing = None
            self.chat.mark(is_busy=False)
        if work.cancelled():
            raise HostError("You stopped it, so it was not said")
        return work.result()

    async def _fetched(self, prompt: str, arguments: dict[str, str]) -> tuple[list[SamplingMessage], list[str]]:
        """Get the messages of a prompt, and the servers whose data stands in them; look for edited files first."""
        await self.notice_edits()
        if not prompt:
            return [], []
        server, _, name = prompt.partition("/")
        found = await fetching.prompt(self.parts.connections, server, name, arguments)
        self.activity.record("prompt", server=server, chat=self.chat.id, name=name, arguments=arguments)
        has_data = any(isinstance(each.content, EmbeddedResource) for each in found.messages)
        return of_prompt(server, found), [server] if has_data else []

    def _show_said(self, messages: list[SamplingMessage], prompt: str, attached: list[Attached]) -> None:
        """Put what the user says on the board. The last message carries what is attached."""
        for message in messages:
            said = Message(
                id=self.chat.next_id("message"),
                chat=self.chat.id,
                role="user" if message.role == "user" else "model",
                text=text_of(message.blocks),
                at=time.time(),
                turn=self.chat.turn,
                prompt=prompt,
                attached=attached if message is messages[-1] else [],
                images=pictures_of(message.blocks),
            )
            self.chat.put(said)

    def _begin_turn(self, turn: Turn) -> int:
        self.chat.mark(is_busy=True, turn=self.chat.turn, changed=time.time())
        self._turn = turn
        self._running = asyncio.get_running_loop().create_task(self._run(turn))
        self._running.add_done_callback(self._ended)
        return self.chat.turn

    async def _run(self, turn: Turn) -> None:
        """Take a turn, with the servers that it needs."""
        await self.wake(START_SECONDS)
        await turn.run()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Show that a turn is over, and say so in the chat if it did not end by itself. Only now may another begin."""
        chat, self._running = self.chat, None
        if task.cancelled():
            chat.line("The host was closed during this turn." if self.is_closing else "You stopped this turn.")
        elif (error := task.exception()) is not None:
            name = type(error).__name__
            chat.line(f"The turn ended because of a fault ({name}); the log says where, as `fault`. You can go on.")
            self.activity.record("fault", chat=chat.id, turn=chat.turn, **fault_of(error))
        chat.save()
        chat.mark(is_busy=False, changed=time.time())

    def _open(self, saved: Saved) -> None:
        """Put a chat on the board in place of the one that was open."""
        conversation = self._kept(lambda: Conversation(saved, self.board, self.history, self.numbers))
        self.leave_chat()
        self.attachments.clear()
        self.show_chat(saved, is_open=True)
        self._chat = conversation
        self._kept(conversation.show)
        model = self.board.get(f"model:{self.model_id}", Model)
        window = model.window if model is not None else 0
        metering.show(self.board, conversation.messages, self.parts.registry.offered(), window)

    def _kept(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except HistoryFailed as error:
            raise HostError(str(error)) from error

    def _saved(self, id: str) -> Saved:
        found = next((each for each in self._kept(self.history.chats) if each.id == id), None)
        if found is None:
            raise HostError("There is no such chat")
        return found


def _fit(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1].rstrip()}…"


def _check_size(messages: Iterable[SamplingMessage]) -> None:
    """Raise `HostError` for messages that are too long, from whomever they are."""
    blocks = [block for message in messages for block in message.blocks]
    length = sum(len(block.text) for block in blocks if isinstance(block, TextContent))
    if length > MAX_SAID:
        raise HostError(f"Your message is too long: {length:,} characters; {MAX_SAID:,} may be said at once")
    data = sum(len(block.data) for block in blocks if isinstance(block, ImageContent | AudioContent))
    if data > MAX_DATA:
        raise HostError(f"The pictures and recordings of this prompt are too large: {size(data)}")
