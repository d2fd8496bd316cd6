"""The calls of a turn: each is found, approved, carried out, and told to the model whatever became of it.

    Use > found > within the bounds of the turn > approved > carried out > result, paged and marked as data

Everything that goes wrong on the way is a state on the board and a result that the model can act on.
"""

import asyncio
import time
from difflib import get_close_matches

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from splice import MCPError
from splice.host import items
from splice.host.asked import Json
from splice.host.asking.policy import Taint
from splice.host.asking.reviewing import review
from splice.host.connecting.hooks import Unavailable
from splice.host.models.base import Use
from splice.host.parts import Parts
from splice.host.text import one_line
from splice.host.tools.discovery import BadUse, unwrap
from splice.host.tools.offering import GOES_OUTSIDE
from splice.host.tools.registry import Found
from splice.host.tools.results import Given, fenced
from splice.host.turns.budget import Budget
from splice.host.turns.conversation import Conversation
from splice.host.turns.own import OwnTools
from splice.host.turns.showing import Shown
from splice.host.turns.undone import NotDone, of_error
from splice.protocol.tools import TOOLS_CALL
from splice.types import CallToolParams, CallToolResult, ContentBlock, TextContent, ToolResultContent

MAX_MALFORMED = 200
"""How many characters of malformed arguments the model gets back."""

CANCELLED = NotDone("cancelled", "you cancelled it", "The user cancelled this call. Do not try it again unasked.")

CHANGED = NotDone("denied", "its definition changed when its server was started", "This tool has changed. Look again.")


class Calls:
    """The calls of one turn, under way at the same time."""

    def __init__(self, parts: Parts, conversation: Conversation, own: OwnTools, taint: Taint) -> None:
        self._parts, self._conversation, self._own, self._taint = parts, conversation, own, taint
        self._tasks: dict[str, asyncio.Task[ToolResultContent]] = {}
        settings = parts.settings
        bounds = (settings["max_calls"], settings["max_repeats"], settings["max_turn_tokens"])
        self.budget = Budget(parts.questions, conversation.id, *bounds)

    def begin(self, use: Use) -> asyncio.Task[ToolResultContent]:
        """Show a call and start it. The task always ends with a result, also when it is cancelled."""
        chat = self._conversation
        call = items.Call(
            id=chat.next_id("call"), chat=chat.id, turn=chat.turn, server="", tool=use.name, arguments=use.input,
            began=time.time(),
        )  # fmt: skip
        chat.put(call)
        shown = Shown(call, self._parts, chat)
        task = asyncio.get_running_loop().create_task(self._carried_out(shown, use))
        self._tasks[call.id] = task
        task.add_done_callback(lambda done: self._ended(shown, done))
        return task

    def cancel(self, call: str) -> bool:
        """Cancel a call; False: it is not under way."""
        task = self._tasks.get(call)
        return task is not None and task.cancel()

    def _ended(self, shown: Shown, task: asyncio.Task[ToolResultContent]) -> None:
        """Forget a call that is over. One that was cancelled before it began says so now."""
        del self._tasks[shown.id]
        if task.cancelled():
            shown.fail(CANCELLED)
        elif task.exception() is not None:
            shown.fail(NotDone("failed", "a fault of the host", "This call failed."))
        self._conversation.save()

    async def _carried_out(self, shown: Shown, use: Use) -> ToolResultContent:
        try:
            content, is_error = await self._result(shown, use)
        except (NotDone, MCPError, Unavailable, asyncio.CancelledError) as error:  # the task ends here, with a result
            undone = _undone(error)
            shown.fail(undone)
            content, is_error = list[ContentBlock]([TextContent(text=undone.told)]), True
        return ToolResultContent(tool_use_id=use.id, content=content, is_error=is_error)

    async def _result(self, shown: Shown, use: Use) -> tuple[list[ContentBlock], bool]:
        """Carry out what the model wants, and return what it is told, and whether that is an error."""
        if use.malformed:
            text = use.malformed[:MAX_MALFORMED]
            told = f"The arguments are not a JSON object, so nothing was called: {text!r}. Send them again as one."
            raise NotDone("failed", "the model's arguments are not a JSON object", told)
        try:
            name, arguments = unwrap(use.name, use.input)
        except BadUse as error:
            raise NotDone("failed", "the model's arguments are wrong", str(error)) from error
        await self.budget.take(name, arguments)
        if self._own.has(name):
            shown.put(tool=name, arguments=arguments)
            shown.run()
            given = await self._own.call(name, arguments, shown.id)
            is_untrusted = may_be_reviewed = bool(given.server)
        else:
            found = self._found(name)
            result = await self._of_server(shown, found, arguments)
            given = self._parts.results.give(found.server, result, found.tool.output_schema)
            # What says nothing counts as inside: else no permission would last longer than the first result of a turn.
            is_untrusted, may_be_reviewed = GOES_OUTSIDE in found.item.claims, found.item.goes_outside
        if is_untrusted:
            self._taint.add(given.server)
        shown.result(given, is_untrusted=is_untrusted)
        if may_be_reviewed and self._parts.settings["reviews_results"]:
            given = await self._reviewed(shown, given)
        shown.end("failed" if given.is_error else "done")
        return given.content, given.is_error

    async def _reviewed(self, shown: Shown, given: Given) -> Given:
        """Let the user look at a result before the model reads it. Raises `NotDone` if they keep it back."""
        word = shown.item.word
        shown.put(state="waiting", word="waits for you to look at its result")
        reviewed = await review(self._parts.questions, shown.id, given.server, self._conversation.id)
        shown.put(trail=[*shown.item.trail, reviewed.step], word=word)
        if not reviewed.is_given:
            said = f" They say: {reviewed.reason}" if reviewed.reason else ""
            raise NotDone("denied", "you kept its result back", f"The user does not let you read this result.{said}")
        if reviewed.text is None:
            return given
        return replace(given, content=[TextContent(text=fenced(given.server, reviewed.text))])

    def _found(self, name: str) -> Found:
        """Find a tool by the name that the model sees. Raises `NotDone`."""
        found = self._parts.registry.find(name)
        if found is None:
            why = self._parts.registry.why_not(name)
            near = get_close_matches(name, [tool.name for tool in self._parts.registry.offered()], 3, 0.5)
            hint = f" There is {' and '.join(near)}." if near else " Go on without it."
            raise NotDone("failed", one_line(why), f"{why}{hint}")
        return found

    async def _of_server(self, shown: Shown, found: Found, arguments: dict[str, Json]) -> CallToolResult:
        """Let the policy and the user decide, then call the tool. Raises `NotDone`, `MCPError` and `Unavailable`."""
        item = found.item
        shown.put(server=found.server, tool=item.name, title=item.title, arguments=arguments)
        asker = f"The model, in turn {self._conversation.turn}"
        approved = await self._parts.approvals.approve(shown.id, found, arguments, self._taint, asker)
        shown.put(trail=approved.trail)
        shown.decision, shown.rule = "allowed" if approved.is_allowed else "denied", approved.rule
        if not approved.is_allowed:
            raise NotDone("denied", approved.reason or "denied", _denied(approved.reason))
        if approved.arguments != arguments:
            shown.put(arguments=approved.arguments, asked_arguments=arguments)
        shown.run()
        seconds: float = self._parts.settings["call_seconds"]
        # Not `call_tool`: it raises for a structured result that is not as declared, which here is shown with a note.
        params = CallToolParams(name=item.name, arguments=Raw(msgspec.json.encode(approved.arguments)))
        async with self._parts.connections.use(found.server) as client:
            now = self._parts.registry.named(item.id)  # it may have been started just now, and offer something else
            if now is None or now.item.fingerprint != item.fingerprint:
                raise CHANGED
            return await client.request(TOOLS_CALL, params, progress=shown.progress, timeout=seconds)


def _undone(error: BaseException) -> NotDone:
    if isinstance(error, NotDone):
        return error
    if isinstance(error, MCPError | Unavailable):
        return of_error(error)
    return CANCELLED


def _denied(reason: str) -> str:
    said = f" They say: {reason}" if reason else ""
    return f"The user denied this call.{said} Do not try it again in another way."
