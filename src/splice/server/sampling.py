"""Sampling: a handler asks the client's model, which may use functions of the server and answer by a value of a type.

Where tools are functions, or names of this server's tools, an answer that uses some is followed by their results, until
one uses none. Modern versions run the handler again for each answer: the journal keeps every result, so that no
function is called twice. An answer of a type is the argument of one more function, which the model has to call; where
the client offers it no tools, the function is called with the answer's text.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import msgspec

from splice.errors import InvalidParams, RPCError, ToolError
from splice.protocol import content, jsonrpc, questions, tools
from splice.rules.options import Option, option_table
from splice.schema import annotations, functions, schemas
from splice.server import asking, results
from splice.server.call import Call, log

MAX_ROUNDS = 10
"""After how many answers that use tools the model has to come to an end, unless the author says otherwise."""

MAX_RETRIES = 2
"""How often a model without tools is told that its answer does not fit, unless the author says otherwise."""

MAX_USES = 64
"""How many tools one answer may use: they run at once."""

FINAL = "final_answer"
"""The tool that takes the answer, where it is to have a type."""

_NONE, _REQUIRED = questions.ToolChoice(mode="none"), questions.ToolChoice(mode="required")


class SampleOptions(asking.ModelOptions, total=False):
    """What may be said of the request for a model, and how to go on after an answer."""

    tools: Annotated[Sequence[Callable[..., Any] | str | tools.Tool], Option((list, tuple), "a list")]
    """Functions, and names of tools of this server, are called. An answer that uses a `Tool` is returned."""
    max_rounds: Annotated[int, asking.COUNT]
    """After how many answers that use tools, or are of another type, the last one is due. 10 with tools, else 2."""


_OPTIONS = option_table(SampleOptions)


async def sample(call: Call, said: asking.Messages, kind: Any, options: Mapping[str, Any]) -> Any:
    """Ask the client's model, as `Context.sample` says."""
    fields = asking.sample_fields(options, _OPTIONS)
    offered, key, rounds = (fields.pop(name, None) for name in ("tools", "key", "max_rounds"))
    key = call.journal.name(key)  # before anything is awaited: the next run has to count in the same order
    read = asking.messages_of
    messages = await call.home.threads.run(read, said) if results.names_files(said) else read(said)
    params = questions.CreateMessageParams(messages=messages, tools=offered, **fields)
    if kind is None and all(isinstance(each, tools.Tool) for each in offered or ()):
        return await call.ask(questions.CREATE_MESSAGE, params, key)
    talk = _Talk(call)
    params.tools = [talk.add(await call.home.lend(each)) for each in offered or ()] or None
    if kind is not None:
        await talk.expect(kind, params)
    return await talk.run(params, key, rounds or (MAX_ROUNDS if offered else MAX_RETRIES))


class _Talk(msgspec.Struct):
    """A conversation with the client's model."""

    call: Call
    lent: dict[str, Any] = {}
    """By name: the tools that are called."""
    wanted: str = ""
    """The name of the type of the answer; empty for an answer in words."""
    is_flat: bool = False
    """The model writes the answer itself, not an object that has it."""
    found: list[Any] = []
    """The answer of that type."""

    def add(self, lent: Any) -> tools.Tool:
        """Add a tool, and describe it to the model. Raises `ValueError`."""
        name, said = lent.definition.name, lent.definition
        if self.lent.setdefault(name, lent) is not lent:
            raise ValueError(f"two tools of sample have the name {name!r}")
        return tools.Tool(name=name, description=said.description, input_schema=said.input_schema)

    async def expect(self, kind: Any, params: questions.CreateMessageParams) -> None:
        """Demand an answer of a type: as the last use of a tool, or in words where the client offers no tools."""

        async def final_answer(answer: Any) -> None:
            """Take the final answer."""
            self.found.append(answer)

        final_answer.__annotations__["answer"] = kind
        tool = self.add(await self.call.home.lend(final_answer))
        whole, can = tool.input_schema, self.call.declared.capabilities.sampling
        schema = functions.rooted(whole["properties"]["answer"], dict(whole.get("$defs", {})))
        uses_tools = params.tools or (self.call.facts.sampling_tools and can is not None and can.tools is not None)
        self.wanted, self.is_flat = annotations.name_of(kind), schema.get("type") == "object" or not uses_tools
        if uses_tools:
            tool.input_schema = schema if self.is_flat else whole
            params.tools, params.tool_choice = [*(params.tools or ()), tool], _REQUIRED
        else:
            wanted = f"Answer with JSON alone that fits this JSON Schema:\n{results.text_of(schema)}"
            params.messages += asking.messages_of(wanted)

    async def run(self, params: questions.CreateMessageParams, key: str, rounds: int) -> Any:
        """Ask until there is an answer. Raises `InvalidParams` for one that cannot be, `ToolError` where none fits."""
        why, later = "", params.tool_choice if self.wanted else None
        for turn in range(rounds + 1):
            if turn == rounds and not self.wanted:
                params.tool_choice = _NONE
            elif turn == rounds:
                params.tools, self.lent = params.tools and params.tools[-1:], {FINAL: self.lent[FINAL]}
            part = f"{key}.{turn}" if turn else key
            answer = await self.call.ask(questions.CREATE_MESSAGE, params, part)
            uses = _uses(answer, params)
            if not (uses or self.wanted):
                return answer
            done = await self._results(uses or [self._as_use(answer.text)], part)
            if self.found:
                return self.found[0]
            why = tools.CallToolResult(content=done[-1].content).text
            heard = questions.SamplingMessage(role="assistant", content=answer.content)
            reply = questions.SamplingMessage(role="user", content=done if uses else content.TextContent(text=why))
            params = msgspec.structs.replace(params, messages=[*params.messages, heard, reply], tool_choice=later)
        raise ToolError(f"The client's model gave no {self.wanted}: {why}")

    async def _results(self, uses: list[content.ToolUseContent], key: str) -> list[Any]:
        """Use tools, all at once. Those that are done keep their results, even if others ask the client first."""
        using = (self._result(use, f"{key}/{place}") for place, use in enumerate(uses))
        done = await asyncio.gather(*using, return_exceptions=True)
        if ended := [each for each in done if isinstance(each, BaseException)]:
            raise BaseExceptionGroup("tools of sample", ended)
        return done

    async def _result(self, use: content.ToolUseContent, key: str) -> content.ToolResultContent:
        """Use a tool, unless an earlier run of the handler did, and write for the model what came of it."""
        digest = hashlib.blake2b(msgspec.json.encode(use, order="sorted"), digest_size=8).hexdigest()
        part, journal = f"{key}/{digest}", self.call.journal
        kept = journal.page.done.get(key := journal.key(part))
        done = None if kept is None else tools.TOOLS_CALL.read_result(kept, log.debug)
        # A final answer that fitted is read again, for its value. One that failed must be told in the same words.
        if done is None or (self.wanted and use.name == FINAL and not done.is_error):
            try:
                done = await self._use(use, part)
            except RPCError as error:
                done = tools.CallToolResult(content=[content.TextContent(text=str(error))], is_error=True)
            done = tools.TOOLS_CALL.read_result(journal.record(key, done), log.debug)
        return content.ToolResultContent(tool_use_id=use.id, content=done.content, is_error=done.is_error)

    async def _use(self, use: content.ToolUseContent, key: str) -> tools.CallToolResult:
        """Call the function behind a tool. Raises `RPCError` for the model to read."""
        if use.name not in self.lent:
            raise InvalidParams(f"Unknown tool: {use.name[:200]!r}{schemas.meant(use.name, self.lent)}")
        given = {"answer": use.input} if self.is_flat and use.name == FINAL else use.input
        params = tools.CallToolParams(name=use.name, arguments=jsonrpc.raw(given))
        done: Any = await self.lent[use.name].run(self.call.part(key, params))
        if not isinstance(done, tools.CallToolResult):
            raise InvalidParams(f"{use.name} asks questions in a way that works only where a client calls it")
        return done

    def _as_use(self, text: str) -> content.ToolUseContent:
        """Read an answer in words as a use of the tool that takes the answer."""
        answer: Any = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
        with suppress(ValueError, RecursionError):
            answer = msgspec.json.decode(answer)
        return content.ToolUseContent(id="", name=FINAL, input=answer if self.is_flat else {"answer": answer})


def _uses(answer: questions.CreateMessageResult, params: questions.CreateMessageParams) -> list[content.ToolUseContent]:
    """Read which tools an answer uses. Raises `InvalidParams` for an answer that may not be."""
    uses = [block for block in answer.blocks if isinstance(block, content.ToolUseContent)]
    faults = {
        "has results of tools": any(isinstance(block, content.ToolResultContent) for block in answer.blocks),
        "uses tools, which it was not to": uses and (not params.tools or params.tool_choice == _NONE),
        "gives two tool uses one id": len({use.id for use in uses}) < len(uses),
        f"uses more than {MAX_USES} tools": len(uses) > MAX_USES,
    }
    for fault in (fault for fault, is_found in faults.items() if is_found):
        raise InvalidParams(f"The client's answer to {questions.CREATE_MESSAGE.name} {fault}")
    return uses
