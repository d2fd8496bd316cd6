"""One turn: the model speaks and calls tools until it stops, the user stops it, or it cannot go on.

Whatever happens, the conversation stays valid: each use of a tool gets a result, and what was said until then is kept.
Tools are asked for before each step, so a list that changed counts in the middle of a turn.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from splice.host import items
from splice.host.asked import Json
from splice.host.asking.policy import Taint
from splice.host.models.base import Model, ModelFailed, Usage, Use
from splice.host.parts import Parts
from splice.host.records.faults import fault_of
from splice.host.turns import metering, prompting
from splice.host.turns.calls import Calls
from splice.host.turns.conversation import UNANSWERED, Conversation
from splice.host.turns.own import OwnTools
from splice.host.turns.speaking import Speech
from splice.protocol.content import SamplingBlock
from splice.types import CreateMessageParams, SamplingMessage, TextContent, Tool, ToolResultContent, ToolUseContent

MAX_TRIES = 4
"""How often a model is asked for one answer when its provider says: later."""

WAIT_SECONDS = 2.0
"""How long to wait before the second try, if the provider does not say; then twice as long each time."""

MAX_WAIT_SECONDS = 60.0
"""A provider that wants a longer wait is not waited for."""

MAX_USES = 128
"""How many calls a model may want at once."""

END_SECONDS = 5.0
"""How long calls that are cancelled may take to end."""

_LATER = {"limit", "overloaded", "connection"}


class Turn:
    """One turn of a chat. `model` is asked anew for each step, so that another may be chosen in between.

    With `first`, the name of a tool, the first step has to be a call of that one.
    """

    def __init__(
        self, parts: Parts, conversation: Conversation, model: Callable[[], Awaitable[Model]], first: str = ""
    ) -> None:
        self.taint = Taint()
        self._parts, self._conversation, self._model, self._first = parts, conversation, model, first
        self._own = OwnTools(parts, conversation)
        self.calls = Calls(parts, conversation, self._own, self.taint)
        self._window = 0
        self._is_forced = False
        self._noted = ""
        self._failed_late = False
        """The model failed after it had begun to speak. It is not asked again: it would say the beginning twice."""

    async def run(self) -> None:
        """Take all steps. Cancel it to stop the turn; it ends its calls and then raises `CancelledError`."""
        began = time.monotonic()
        self._record("turn", state="begins")
        try:
            self._window = (await self._model()).window
            self._parts.discovery.begin(self._window, wanted=[self._first] if self._first else [])
            while await self._step():
                pass
        except ModelFailed as error:
            self._conversation.line(f"{error.message} Your chat is kept: you can go on, or choose another model.")
            self._record("model", failure=error.kind, why=error.message)
        finally:
            self._conversation.save()
            self._record(
                "turn", state="ends", seconds=round(time.monotonic() - began, 3), calls=self.calls.budget.calls
            )

    async def _step(self) -> bool:
        """Let the model speak once, and carry out what it wants. False: it is done."""
        await self._parts.connections.settled()  # the last step's calls may have changed what there is to call
        tools = self._tools()
        speech = await self._answer(tools)
        if speech.uses:
            await self._carry_out(speech)
        else:
            text = [SamplingMessage(role="assistant", content=TextContent(text=speech.text))] if speech.text else []
            self._conversation.save(text)
        self._show_meter(tools)
        return bool(speech.uses)

    def _tools(self) -> list[Tool]:
        """List what the model may call in this step."""
        tools = [*self._parts.discovery.offered(), *self._own.tools()]
        wanted = [tool for tool in tools if tool.name == self._first]
        self._is_forced, self._first = bool(wanted), ""
        return wanted or tools

    # The model.

    async def _answer(self, tools: Sequence[Tool]) -> Speech:
        """Ask the model for one answer, again if its provider says: later. Raises `ModelFailed`."""
        wait = WAIT_SECONDS
        for _ in range(MAX_TRIES - 1):
            try:
                return await self._once(tools)
            except ModelFailed as error:
                pause = wait if error.retry_after is None else error.retry_after
                if error.kind not in _LATER or pause > MAX_WAIT_SECONDS or self._failed_late:
                    raise
                self._conversation.line(f"{error.message} Asking again in {max(1, round(pause))} s.")
            await asyncio.sleep(pause)
            wait *= 2
        return await self._once(tools)

    async def _once(self, tools: Sequence[Tool]) -> Speech:
        """Ask once. What was said until the model failed, or the user stopped it, stays in the chat."""
        chat, model = self._conversation, await self._model()
        params = self._params(model, tools)  # says what is missing, before the model speaks
        message = items.Message(
            id=chat.next_id("message"), chat=chat.id, role="model", at=time.time(), turn=chat.turn, is_done=False,
            model=model.label, is_ai=model.is_ai,
        )  # fmt: skip
        speech = Speech(lambda text: chat.put(replace(message, text=text)))
        stop, began = "stopped by you", time.monotonic()
        try:
            await speech.hear(model, params)
            stop = "" if speech.stop in ("endTurn", "toolUse") else speech.stop
        except ModelFailed:
            stop, self._failed_late = "error", bool(speech.text)
            raise
        finally:
            usage, seconds = speech.usage or Usage(0, 0), round(time.monotonic() - began, 3)
            self.calls.budget.spend(usage.input + usage.output)
            facts = {"input_tokens": usage.input, "output_tokens": usage.output, "calls": len(speech.uses)}
            self._record("model", model=model.id, stop=stop or speech.stop, seconds=seconds, **facts)
            if speech.text or (stop not in ("error", "stopped by you") and not speech.uses):
                chat.put(replace(message, text=speech.text, is_done=True, stop=stop))
            if speech.text and stop in ("error", "stopped by you"):  # its uses are not carried out, so not kept
                chat.save([SamplingMessage(role="assistant", content=TextContent(text=speech.text))])
        return speech

    def _params(self, model: Model, tools: Sequence[Tool]) -> CreateMessageParams:
        settings = self._parts.settings
        servers = [each.entry.name for each in self._parts.connections if each.state != "off"]
        instructions = {name: self._parts.registry.instructions(name) for name in servers}
        system = prompting.system_prompt(instructions, settings["instructions"])
        told = prompting.told(
            self._conversation.messages,
            tools,
            system,
            window=model.window,
            max_tokens=settings["max_tokens"],
            choice="none" if self.calls.budget.is_over else "required" if self._is_forced else "auto",
        )
        self._say_what_is_missing(told.left_out, told.dropped)
        return told.params

    def _say_what_is_missing(self, left_out: int, dropped: int) -> None:
        """Say in the chat what the model no longer gets; once, until it is more."""
        parts = [f"{left_out} older results"] if left_out else []
        parts += [f"the first {dropped} messages"] if dropped else []
        note = " and ".join(parts)
        if note and note != self._noted:
            self._conversation.line(f"The model's window is nearly full: it no longer gets {note}. You still see them.")
        self._noted = note

    # The calls.

    async def _carry_out(self, speech: Speech) -> None:
        """Carry out all calls at the same time. Their results are kept in the order of the uses, also when stopped."""
        uses = _with_own_ids(speech.uses[:MAX_USES])
        if len(speech.uses) > MAX_USES:
            told = f"The model wanted {len(speech.uses)} calls at once: the first {MAX_USES} are looked at"
            self._conversation.line(f"{told}, and it is not told of the others.")
        tasks = [self.calls.begin(use) for use in uses]
        self._conversation.save()  # whatever becomes of the host, the user sees what was under way
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=END_SECONDS)
            raise
        finally:
            said: list[SamplingBlock] = [TextContent(text=speech.text)] if speech.text else []
            said += [ToolUseContent(id=use.id, name=use.name, input=use.input) for use in uses]
            results: list[SamplingBlock] = [self._result(use, task) for use, task in zip(uses, tasks, strict=True)]
            asked = SamplingMessage(role="assistant", content=said)
            self._conversation.save([asked, SamplingMessage(role="user", content=results)])

    def _result(self, use: Use, task: asyncio.Task[ToolResultContent]) -> ToolResultContent:
        """Take the result of a call; one that a fault of the host has ended says so."""
        if task.done() and not task.cancelled():
            error = task.exception()
            if error is None:
                return task.result()
            self._record("fault", tool=use.name, **fault_of(error))
        return ToolResultContent(tool_use_id=use.id, content=[TextContent(text=UNANSWERED)], is_error=True)

    def _show_meter(self, tools: Sequence[Tool]) -> None:
        """Put on the board what fills the window."""
        metering.show(
            self._parts.board,
            self._conversation.messages,
            tools,
            self._window,
            calls=self.calls.budget.calls,
            max_calls=self.calls.budget.most,
            untrusted=list(self.taint.servers),
            is_searching=self._parts.discovery.is_searching,
        )

    def _record(self, kind: str, **facts: Json) -> None:
        chat = self._conversation
        self._parts.activity.record(kind, chat=chat.id, turn=chat.turn, **facts)


def _with_own_ids(uses: Sequence[Use]) -> list[Use]:
    """Give each use an id of its own: some providers give none, or the same twice."""
    known: set[str] = set()
    unique: list[Use] = []
    for number, use in enumerate(uses, 1):
        id = use.id if use.id and use.id not in known else f"{use.id or 'use'}-{number}"
        known.add(id)
        unique.append(replace(use, id=id))
    return unique
