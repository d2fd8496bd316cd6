"""The tool of the server for thinking step by step, and the history as a resource."""

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta, Struct

from splice import ResourceNotFound, Server, ToolError
from splice.servers.indented import indented
from splice.servers.sequential_thinking.drawing import draw
from splice.servers.sequential_thinking.histories import Histories, History, Thought, tell_callers_apart
from splice.types import ToolAnnotations

MAX_THOUGHT = 50_000
"""How many characters a thought may have."""

MAX_BRANCH_ID = 200
"""How many characters the name of a branch may have."""

URI = "thoughts://history"

Number = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Truth = bool | str
"""True, false, or one of the two as text."""

INSTRUCTIONS = (
    "Use it for problems of several steps, where the way is not clear from the start. "
    f"The thoughts so far are the resource {URI}."
)


class Progress(Struct, frozen=True, omit_defaults=True):
    """How far the thinking has come."""

    thoughtNumber: int
    totalThoughts: int
    nextThoughtNeeded: bool
    branches: list[str]
    thoughtHistoryLength: int
    historyId: str | None = None


def make(*, disable_thought_logging: bool = False) -> Server:
    """Make the server."""
    histories = Histories()
    middleware = [tell_callers_apart, indented()]
    server = Server("sequential-thinking-server", version="1.0.0", instructions=INSTRUCTIONS, middleware=middleware)

    def think(thought: Thought, history_id: str | None) -> Progress:
        id, history = _history(histories, history_id)
        history.add(thought)
        server.publish(("notifications/resources/updated", URI if id is None else f"{URI}/{id}"))
        if not disable_thought_logging:
            draw(thought)
        return Progress(
            thoughtNumber=thought.thoughtNumber,
            totalThoughts=thought.totalThoughts,
            nextThoughtNeeded=thought.nextThoughtNeeded,
            branches=list(history.branches),
            thoughtHistoryLength=history.length,
            historyId=id,
        )

    _offer_tool(server, think)
    _offer_history(server, histories)
    return server


def _offer_tool(server: Server, think: Callable[[Thought, str | None], Progress]) -> None:
    hints = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)

    @server.tool(title="Sequential thinking", annotations=hints, blocking=False)
    def sequentialthinking(
        *,
        thought: Annotated[str, Meta(description="This step: analysis, doubt, revision, hypothesis or its check")],
        nextThoughtNeeded: Annotated[Truth, Meta(description="Whether another step follows")],
        thoughtNumber: Annotated[Number, Meta(description="The number of this step, from 1")],
        totalThoughts: Annotated[Number, Meta(description="How many steps there will be, as it looks now")],
        isRevision: Annotated[Truth | None, Meta(description="Whether this step corrects an earlier one")] = None,
        revisesThought: Annotated[Number | None, Meta(description="The number of the step it corrects")] = None,
        branchFromThought: Annotated[Number | None, Meta(description="The step where this way branches off")] = None,
        branchId: Annotated[str | None, Meta(description="The name of the branch")] = None,
        needsMoreThoughts: Annotated[Truth | None, Meta(description="Whether the end turned out not to be it")] = None,
        historyId: Annotated[str | None, Meta(description="The historyId of the last answer, if it had one")] = None,
    ) -> Progress:
        """Think about a hard problem step by step, one call for each step.

        Use it where the way to the answer is not clear from the start: to plan, to analyse, to find a fault. Begin with
        a guess of how many steps there will be, and change it as you go. A step may doubt or correct an earlier one
        (isRevision, revisesThought), try another way from there (branchFromThought, branchId), or go on after what
        looked like the end. Write down a hypothesis, check it, and set nextThoughtNeeded to false only when the answer
        stands. The answer tells how many thoughts there were and the names of the branches; the thoughts themselves
        are not repeated.
        """
        _check("thought", thought, MAX_THOUGHT)
        _check("branchId", branchId or "", MAX_BRANCH_ID)
        said = Thought(
            thought=thought,
            nextThoughtNeeded=_truth("nextThoughtNeeded", nextThoughtNeeded),
            thoughtNumber=thoughtNumber,
            totalThoughts=max(totalThoughts, thoughtNumber),
            isRevision=None if isRevision is None else _truth("isRevision", isRevision),
            revisesThought=revisesThought,
            branchFromThought=branchFromThought,
            branchId=branchId,
            needsMoreThoughts=None if needsMoreThoughts is None else _truth("needsMoreThoughts", needsMoreThoughts),
        )
        return think(said, historyId)


def _offer_history(server: Server, histories: Histories) -> None:
    @server.resource(URI, title="Thoughts", mime_type="application/json")
    async def own() -> dict[str, Any]:
        """Read the thoughts of this session, the oldest first, and the names of its branches."""
        history = histories.of_caller()
        if history is None:
            raise ResourceNotFound(f"Nobody can tell whose thoughts these are: read {URI}/ and a historyId")
        return history.told()

    @server.resource(f"{URI}/{{historyId}}", title="Thoughts by id", mime_type="application/json")
    async def by_id(historyId: str) -> dict[str, Any]:
        """Read the thoughts under the historyId that the tool told."""
        history = histories.find(historyId)
        if history is None:
            raise ResourceNotFound(f"{URI}/{historyId[:MAX_BRANCH_ID]} is unknown or was forgotten")
        return history.told()


def _history(histories: Histories, id: str | None) -> tuple[str | None, History]:
    """Find whose history it is, and by which id, if by one. Raises `ToolError`."""
    if id is not None:
        if (found := histories.find(id)) is None:
            raise ToolError("This historyId is unknown or was forgotten: leave it out to begin a new history")
        return id, found
    own = histories.of_caller()
    return histories.begin() if own is None else (None, own)


def _check(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise ToolError(f"{name} has {len(text)} characters; at most {most} are taken: say it in several steps")


def _truth(name: str, said: Truth) -> bool:
    if isinstance(said, str):
        if said.lower() not in ("true", "false"):
            raise ToolError(f"{name} is true or false, not {said[:40]!r}")
        return said.lower() == "true"
    return said
