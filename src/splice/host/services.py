"""What the host does for its servers: trust, questions, folders, and taking note of what they say.

Each of these is a part of its own; here they meet the connections.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from splice.host.addresses import host_of
from splice.host.asked import Decision
from splice.host.asking.elicitation import Elicitation
from splice.host.asking.questions import Questions
from splice.host.asking.roots import Roots
from splice.host.board import Board
from splice.host.config.entries import Entry
from splice.host.connecting.manifest import Manifest
from splice.host.connecting.trust import Trusted
from splice.host.items import Call
from splice.host.looks import trust_of
from splice.host.records.activity import Activity
from splice.host.text import one_line
from splice.host.tools.registry import Registry
from splice.types import CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root

MAX_WHY = 300


class Services:
    """The hooks of all connections. `say` takes a line about a server, for the chat."""

    def __init__(
        self,
        board: Board,
        activity: Activity,
        questions: Questions,
        registry: Registry,
        trusted: Trusted,
        say: Callable[[str, str], None],
    ) -> None:
        self._board, self._activity, self._questions, self._registry = board, activity, questions, registry
        self._trusted, self._say = trusted, say
        self.elicitation = Elicitation(board, questions)
        self.folders = Roots(board, questions)
        self.sample_for: Callable[[str, CreateMessageParams], Awaitable[CreateMessageResult | None]] | None = None
        """Lets a model answer a server."""
        self.on_start: Callable[[str], None] = lambda _server: None
        """Is told of each server that was started."""
        self.on_update: Callable[[str, str], None] = lambda _server, _uri: None
        """Is told of each resource that changed."""

    async def trusts(self, entry: Entry) -> bool:
        """Tell whether the user trusts the command of an entry; asks when it is not known."""
        if self._trusted.is_trusted(entry):
            return True
        asked = trust_of(entry, self._trusted.before(entry))
        answer, by = await self._questions.ask(entry.name, asked)
        is_given = isinstance(answer, Decision) and answer.verdict == "once"
        self.record("trust", entry.name, given=is_given, by=by, runs=entry.runs, fingerprint=entry.fingerprint)
        if is_given:
            self._keep(entry)
        return is_given

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Let the user answer a question. Raises `InvalidParams` for one that cannot be shown."""
        running = [each.id for each in self._board.all(Call) if each.server == server and each.state == "running"]
        result = await self.elicitation.elicit(server, params, calls=running)
        where = {"host": host_of(params.url)} if params.mode == "url" and params.url else {}
        self.record(
            "elicitation", server, mode=params.mode or "form", message=params.message, action=result.action, **where
        )
        return result

    async def sample(self, server: str, params: CreateMessageParams) -> CreateMessageResult | None:
        """Let a model go on with messages; None: the user does not want it. Raises `RPCError`."""
        return None if self.sample_for is None else await self.sample_for(server, params)

    async def roots(self, server: str) -> list[Root]:
        """List the folders that a server is told of; asks the user the first time."""
        return await self.folders.tell(server)

    async def prepare(self, server: str, manifest: Manifest) -> None:
        """Do what takes long before `heard` is told the same."""
        await self._registry.prepare(server, manifest)

    def heard(self, server: str, manifest: Manifest) -> None:
        """Take what a server offers: it came, or it changed."""
        self._registry.heard(server, manifest)
        self.record("list", server, tools=len(manifest.tools), prompts=len(manifest.prompts))

    def updated(self, server: str, uri: str) -> None:
        """Take note that a resource changed which is subscribed to."""
        self.record("updated", server, uri=uri)
        self.on_update(server, uri)

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Write into the activity log; what the user should know at once is said in the chat too."""
        self._activity.record(kind, server=server, **facts)
        why = one_line(str(facts.get("why", "")))[:MAX_WHY]
        if kind == "start":
            self.on_start(server)
        elif kind == "crash":
            self._say(server, f"{one_line(server)} crashed: {why}. It is started again when it is needed.")
        elif kind == "fail":
            self._say(server, f"{one_line(server)} cannot be used: {why}")

    def _keep(self, entry: Entry) -> None:
        try:
            self._trusted.give(entry)
        except OSError as error:
            self._say(entry.name, f"{one_line(entry.name)} is trusted only until the host ends: {error.strerror}")
