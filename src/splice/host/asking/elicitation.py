"""A server asks the user: by a form, or by sending them to a page.

A form is checked before anybody sees it, and so is what was filled in before it leaves. The address of a page is shown
whole with all that may deceive about it. It is never fetched, and opened in the user's own browser only when they say
so. When they have finished there, they say that too: no server can be asked.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

import asyncio
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from splice import InvalidParams
from splice.host.addresses import host_of, loudest, may_open, warnings_about
from splice.host.asked import Filled, Form, Visit
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.during import call_of, chat_of
from splice.host.asking.fields import Field
from splice.host.asking.forms import BadForm, fields
from splice.host.asking.questions import Questions
from splice.host.board import Board
from splice.host.items import Question
from splice.host.secrecy import is_secret
from splice.schema.schemas import Schema, cut
from splice.types import ElicitParams, ElicitResult

MAX_MESSAGE = 10_000
"""How many characters of a server's reason are shown."""

MAX_URL = 8_000


class Elicitation:
    """Asks the user for servers."""

    def __init__(
        self,
        board: Board,
        questions: Questions,
        *,
        opens: Callable[[str], object] = webbrowser.open,
        known: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        """Make one that opens pages by `opens`; others may imitate the hosts `known` to belong to a server."""
        self._board = board
        self._questions = questions
        self._opens = opens
        self.known = known
        self.has_sent: Callable[[str, str], bool] = lambda _server, _host: False
        """Tells whether a server has sent the user to a host before."""
        self.sent: Callable[[str, str], None] = lambda _server, _host: None
        """Is told that the user finished at a host that a server sent them to."""

    async def elicit(self, server: str, params: ElicitParams, *, calls: Sequence[str] = ()) -> ElicitResult:
        """Let the user answer; `calls` are the ids of the server's calls under way.

        Raises `InvalidParams` for a form that cannot be shown, and for an address that no browser may open.
        """
        call = call_of(self._board, server, calls)
        chat = chat_of(self._board, call)
        during = call.id if call is not None else ""
        message = cut(params.message, MAX_MESSAGE)
        if params.mode == "url":
            visit = self._visit(server, params.url or "", message, during)
            answer, _ = await self._questions.ask(server, visit, chat=chat)
            action = answer.action if isinstance(answer, Filled) else "cancel"
            if action == "accept":
                self.sent(server, visit.host)
            return ElicitResult(action=action)
        schema = params.requested_schema or {}
        try:
            secrets = _secrets(fields(schema), message)
        except BadForm as error:
            raise InvalidParams(f"Invalid params: {error}") from None
        answer, _ = await self._questions.ask(server, Form(message, schema, during, secrets), chat=chat)
        if not isinstance(answer, Filled) or answer.action != "accept":
            return ElicitResult(action=answer.action if isinstance(answer, Filled) else "cancel")
        given = cast("dict[str, object]", answer.content or {})
        return ElicitResult(action="accept", content=_content(schema, given))

    async def open(self, question: str) -> None:
        """Open the address of a visit in the user's browser. Raises `WrongAnswer` with a sentence if that fails.

        The user has agreed by then: where no browser can be started, they may go there themselves, and finish.
        """
        item = self._board.get(question, Question)
        if item is None or not isinstance(item.asked, Visit):
            raise WrongAnswer("There is no page to open any more.")
        if not may_open(item.asked.url):
            raise WrongAnswer("This is not the address of a page, so no browser is sent there.")
        # A browser is another program, and to start it may take a while.
        was_opened = await asyncio.to_thread(self._opens, item.asked.url)
        self._questions.opened(question)
        if was_opened is False:
            raise WrongAnswer("No browser could be started here. Copy the address and open it yourself.")

    def _visit(self, server: str, url: str, message: str, call: str) -> Visit:
        if len(url) > MAX_URL or not may_open(url):
            raise InvalidParams("Invalid params: `url` is not the address of a page: http or https, a host, no spaces")
        known, host = list(self.known(server)), host_of(url)
        warnings, loud = list(warnings_about(url, known)), loudest(url, known)
        is_new = host not in known and not self.has_sent(server, host)
        return Visit(message, url, host, warnings, call, loud=loud, is_new=is_new)


def secrets_given(params: ElicitParams, result: ElicitResult) -> list[str]:
    """List the secrets in an answer, which are the server's to know and nobody else's."""
    if not result.content or params.requested_schema is None:
        return []
    named = _secrets(fields(params.requested_schema), params.message)
    return [str(value) for name, value in result.content.items() if name in named and value]


def _secrets(shown: Iterable[Field], message: str) -> list[str]:
    """Name the fields that seem to ask for a secret: also a single field of text, if the message does."""
    listed = list(shown)
    named = [field.name for field in listed if field.is_secret]
    texts = [field.name for field in listed if field.kind in ("text", "long")]
    return texts if not named and len(texts) == 1 and is_secret("", "", message) else named


def _content(schema: Schema, given: dict[str, object]) -> dict[str, str | int | float | bool | list[str] | None]:
    """Take what was filled in, and nothing for what was left empty; the form was checked with the answer."""
    filled = {name: value for name, value in given.items() if value is not None and name in schema["properties"]}
    return cast("dict[str, str | int | float | bool | list[str] | None]", filled)
