"""The tools that ask: the user by a form or a link, a model, and the client for its roots.

In sessions a question is a request of the server's own. Since 2026-07-28 a call ends with its questions and is sent
again with the answers; each function is written once for both.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import json
import uuid
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta

from splice import Ask, Context, Elicited, RPCError, Server, ToolError
from splice.servers.everything.forms import LABELS, form
from splice.servers.everything.hints import ASKS, ASKS_OUTSIDE, READS
from splice.servers.everything.seeing import can_visit
from splice.servers.everything.sessions import has_error, has_lists_in_forms, session_here
from splice.servers.sessions import when_ended
from splice.types import ContentBlock, Root, TextContent

VISIT_FIRST = "https://modelcontextprotocol.io"
"""Where the error path sends the user: a page of the protocol's."""

VISIT_REQUIRED = -32042
"""The code of the error that sends the user to a page. One version has it."""

MAX_WAITING = 100
"""How many calls of the error path are remembered, so that the same call again goes on."""

_SYSTEM = "You are a helpful test server."


async def get_roots_list(ctx: Context) -> str:
    """List the roots that the client told. Shows roots; this server opens no files in them."""
    roots = await ctx.roots()
    if not roots:
        return "The client can tell roots, and has none now. Add a directory to its workspace and call this again."
    return (
        f"Current MCP Roots ({len(roots)} total):\n\n{_listed(roots)}\n\n"
        "Note: This server demonstrates the roots protocol capability but doesn't actually access files. The roots are "
        "provided by the MCP client and can be used by servers that need file system access."
    )


async def trigger_elicitation_request(ctx: Context) -> list[ContentBlock]:
    """Ask the user to fill in a form. Shows every kind of field that a form may have."""
    answer = await ctx.elicit(
        "Please provide inputs for the following fields:", form(lists=has_lists_in_forms()), key="form"
    )
    if answer.action == "accept":
        content: dict[str, Any] = answer.content or {}
        lines = [f"- {label}: {_said(content[name])}" for name, label in LABELS.items() if name in content]
        told = ["✅ User provided the requested information!", "\n".join(["User inputs:", *lines])]
    elif answer.action == "decline":
        told = ["❌ User declined to provide the requested information."]
    else:
        told = ["⚠️ User cancelled the elicitation dialog."]
    return [*(TextContent(text=text) for text in told), _raw(answer)]


async def trigger_sampling_request(
    ctx: Context,
    prompt: Annotated[str, Meta(description="What to tell the model", max_length=100_000)],
    maxTokens: Annotated[int, Meta(description="The longest answer wanted", ge=1, le=100_000)] = 100,
) -> str:
    """Have the client's model answer a prompt. Shows sampling."""
    text = f"Resource trigger-sampling-request context: {prompt}"
    answer = await ctx.sample(text, system_prompt=_SYSTEM, max_tokens=maxTokens, temperature=0.7, key="model")
    said: dict[str, Any] = {"model": answer.model, "stopReason": answer.stop_reason, "role": answer.role}
    said["content"] = msgspec.to_builtins(answer.content)
    shown = {name: value for name, value in said.items() if value is not None}
    return f"LLM sampling result: \n{json.dumps(shown, indent=2, ensure_ascii=False)}"


_Drink: TypeAlias = Literal["tea", "coffee"]
_Size: TypeAlias = Literal["small", "large"]
_Colour: TypeAlias = Literal["red", "green", "blue"]


class Visits:
    """The tool that sends the user to a URL, by a question or by an error."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[Any, str], None] = {}
        """The calls that were answered with the error, by session and arguments: the oldest first."""

    async def trigger_url_elicitation(
        self,
        ctx: Context,
        url: Annotated[str, Meta(description="Where to send the user: https or http", max_length=2000)],
        message: Annotated[
            str, Meta(description="What the user reads before", max_length=2000)
        ] = "Please open the link to complete this action.",
        elicitationId: Annotated[str, Meta(description="Names the visit; random unless given", max_length=200)] = "",
        errorPath: Annotated[
            bool,
            Meta(
                description="Answer with an error that sends the user somewhere first; call again with the same "
                "arguments when that is done. Protocol versions without such an error: the user is asked."
            ),
        ] = False,
    ) -> list[ContentBlock]:
        """Send the user to a URL. Shows elicitation by links, which is for what must not pass through the client."""
        if errorPath and has_error(VISIT_REQUIRED) and can_visit(ctx.client.capabilities):
            self._visit_first(msgspec.json.encode([url, message, elicitationId]).decode())
        id = elicitationId or await ctx.once(lambda: str(uuid.uuid4()), key="id")
        try:
            answer = await ctx.elicit_url(message, url, id=id, key="visit")
        except ValueError as error:  # not the URL of a page, or the id of another client's visit
            raise ToolError(f"The user cannot be sent there: {error!s:.300}") from None
        if answer.action == "accept":
            text = f"✅ User completed the URL elicitation flow.\nElicitation ID: {id}\nURL: {url}"
        elif answer.action == "decline":
            text = f"❌ User declined to open the URL.\nElicitation ID: {id}"
        else:
            text = f"⚠️ User cancelled the URL elicitation.\nElicitation ID: {id}"
        return [TextContent(text=text), _raw(answer)]

    def _visit_first(self, arguments: str) -> None:
        """Raise the error that sends the user somewhere, unless this very call was answered with it before."""
        session = session_here()
        key = (session, arguments)
        if key in self._waiting:
            del self._waiting[key]
            return
        if session is not None:
            when_ended(session, self._let_go)
            self._waiting[key] = None
            if len(self._waiting) > MAX_WAITING:
                del self._waiting[next(iter(self._waiting))]
        text = "Open this link to satisfy the prerequisite, then retry the request."
        visit = {"mode": "url", "url": VISIT_FIRST, "message": text, "elicitationId": str(uuid.uuid4())}
        data = {"elicitations": [visit]}
        raise RPCError("This request requires browser-based authorization.", data, code=VISIT_REQUIRED)

    def _let_go(self, session: Any) -> None:
        for key in [key for key in self._waiting if key[0] is session]:
            del self._waiting[key]


async def trigger_questions_in_rounds(ctx: Context) -> str:
    """Ask the user two questions, the second of which depends on the first answer.

    Shows a call of several rounds: since 2026-07-28 it is sent again with each answer. What happens between the
    questions happens once, as its result travels with the call.
    """
    drink = await ctx.elicit("Tea or coffee?", _Drink, key="drink")
    if not drink.accepted:
        return f"The user chose to {drink.action} the first question."
    order = await ctx.once(lambda: str(uuid.uuid4())[:8], key="order")
    sure = await ctx.elicit(f"Order {order}: one {drink.data}. Is that right?", bool, key="sure")
    if not sure.accepted or not sure.data:
        return f"Order {order} was not confirmed."
    return f"Order {order}: one {drink.data}, confirmed."


async def trigger_questions_at_once(ctx: Context) -> str:
    """Ask the user two independent questions together, and a client with roots for those as well.

    Shows several questions in one round: since 2026-07-28 they come in one result, before that side by side.
    """
    size, colour = Ask.form("Which size?", _Size, key="size"), Ask.form("Which colour?", _Colour, key="colour")
    if ctx.client.capabilities.roots is None:
        first, second = await ctx.ask(size, colour)
        return f"Size: {_answered(first)}. Colour: {_answered(second)}."
    first, second, roots = await ctx.ask(size, colour, Ask.roots(key="roots"))
    return f"Size: {_answered(first)}. Colour: {_answered(second)}. Roots: {len(roots)}."


async def trigger_sampling_with_tools(
    ctx: Context, prompt: Annotated[str, Meta(description="What to tell the model", max_length=100_000)]
) -> str:
    """Have the client's model answer a prompt while it may use `get-sum` and `echo` of this server.

    Shows sampling with tools: the model asks for a tool, the server calls it, and tells the model what came of it.
    """
    answer = await ctx.sample(prompt, tools=["get-sum", "echo"], max_tokens=500, max_rounds=3, key="model")
    return f"The model said: {answer.text}"


def add(server: Server) -> None:
    """Add the tools."""
    visits = Visits()
    for fn, title, hints in (
        (get_roots_list, "Roots", READS),
        (trigger_elicitation_request, "Form for the user", ASKS),
        (visits.trigger_url_elicitation, "Link for the user", ASKS_OUTSIDE),
        (trigger_sampling_request, "Question for the model", ASKS_OUTSIDE),
        (trigger_questions_in_rounds, "Questions in rounds", ASKS),
        (trigger_questions_at_once, "Questions at once", ASKS),
        (trigger_sampling_with_tools, "Question for the model, with tools", ASKS_OUTSIDE),
    ):
        server.add_tool(fn, name=fn.__name__.replace("_", "-"), title=title, annotations=hints)


def _listed(roots: list[Root]) -> str:
    each = (f"{number}. {root.name or 'Unnamed'}\n   URI: {root.uri}" for number, root in enumerate(roots, 1))
    return "\n\n".join(each)


def _answered(answer: Elicited[Any]) -> str:
    return str(answer.content) if answer.accepted else answer.action


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(cast("list[str]", value)) if isinstance(value, list) else str(value)


def _raw(answer: Elicited[Any]) -> TextContent:
    """Show an answer as it came."""
    raw = {"action": answer.action} | ({} if answer.content is None else {"content": answer.content})
    return TextContent(text=f"\nRaw result: {json.dumps(raw, indent=2, ensure_ascii=False)}")
