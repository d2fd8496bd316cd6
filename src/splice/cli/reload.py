"""`splice run --reload`: a front that keeps the pipe or port, and the server behind it, which is replaced.

    host = transport = Front = Line = child, a `splice run` over stdio

Each session has a line of its own, and so has all that belongs to no session. What arrives is passed on as it is, both
ways; only ids are ours. A new child is told what the session told the old one (`initialize`, the log level,
subscriptions), takes over what comes from then on, and the host hears that everything may have changed. The old child
ends when its calls are done. A child that does not start changes nothing.
"""

import asyncio
import os
from collections.abc import Sequence
from itertools import count
from typing import Any

import msgspec
from msgspec import Raw, Struct

from splice import (
    ConnectionClosed,
    Exchange,
    InternalError,
    Link,
    MCPError,
    Outgoing,
    RPCError,
    Sender,
    Service,
    Session,
    StdioServer,
)
from splice.cli.failures import tell_note
from splice.cli.targets import this_splice
from splice.cli.watching import look, root_of
from splice.client.options import INFO
from splice.protocol import jsonrpc
from splice.protocol.capabilities import ClientCapabilities
from splice.protocol.jsonrpc import Failure, Notification, Request, RequestId, Response, Success, error_of, failure, raw
from splice.protocol.lifecycle import DISCOVER, INITIALIZE, INITIALIZED, META_SUBSCRIPTION_ID
from splice.protocol.notifications import ACKNOWLEDGED, LISTS, RESOURCE_UPDATED, SET_LEVEL, SUBSCRIPTIONS_LISTEN
from splice.protocol.resources import RESOURCES_SUBSCRIBE, RESOURCES_UNSUBSCRIBE
from splice.protocol.versions import VERSIONS
from splice.rules.eras import Stamp
from splice.rules.meta import TOKEN, replace_token, restamp
from splice.server.sessions import LIST_CHANGES, Listener, change_note, updated
from splice.transports.tasks import Background, Stretch

POLL_SECONDS = 0.25
START_SECONDS = 60.0
"""How long a new server may take to answer for the first time."""

_OF_NO_REQUEST = frozenset((*(note.name for note in LISTS.values()), RESOURCE_UPDATED.name))

_ids = count(1)


class _Replaced(Exception):
    """The server that a stream came from was replaced."""


class _Over(Exception):
    """The front stops, and all streams with it."""


class _Members(Struct):
    """The part of params or of a notification that is looked at on the way."""

    meta: dict[str, Raw] | None = msgspec.field(default=None, name="_meta")


_members_decoder = msgspec.json.Decoder(_Members)


class Child:
    """One run of the server."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def exchange(self, outgoing: Outgoing) -> Response:
        """Send a request and wait for its response. Raises `ConnectionClosed`."""
        self._calls += 1
        self._idle.clear()
        try:
            return await self.link.exchange(outgoing)
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def idle(self) -> None:
        """Wait until its calls are done."""
        await self._idle.wait()


class Line:
    """The server behind one session, or behind all that belongs to none. It is the `Receiver` of its children."""

    def __init__(self, command: Sequence[str], session: Session | None) -> None:
        self._command = command
        self._session = session
        self._child: Child | None = None
        """The one that is given what comes."""
        self._children: set[Child] = set()
        """This one, and those before that still work."""
        self._starting = asyncio.Lock()
        self._running: dict[str, Exchange] = {}
        """The requests that a child works on, by the ids that we gave them."""
        self._streams: dict[Stretch, Exchange] = {}
        """The open `subscriptions/listen` streams."""
        self._acknowledged: set[Exchange] = set()
        self._told: dict[str, Request] = {}
        """What a new child has to be told."""
        self._background = Background()

    # From the host to the server.

    async def pass_on(self, exchange: Exchange) -> Response:
        """Let the server answer a request. Never raises, but for being cancelled."""
        request = exchange.request
        try:
            if request.method == SUBSCRIPTIONS_LISTEN.name:
                response = await self._listen(exchange)
            else:
                response = await self._send(exchange)
                self._remember(request, response)
        except RPCError as error:
            return failure(request.id, error)
        except (MCPError, TimeoutError) as error:
            return failure(request.id, InternalError(f"The server behind --reload: {str(error) or 'is silent'}"))
        response.id = request.id
        return response

    async def tell(self, note: Notification) -> None:
        """Let the server hear of something."""
        if self._session is not None and note.method == INITIALIZED.name:
            self._session.ready = True
        if self._child is not None:
            await self._child.link.notify(note)

    async def _send(self, exchange: Exchange) -> Response:
        child = self._child
        if child is None:
            async with self._starting:
                child = self._child = self._child or await self._started()
        request, id = exchange.request, f"r{next(_ids)}"
        params, theirs = _with_token(request.params, id)

        async def hear(note: Notification) -> None:
            params = note.params if theirs is None else replace_token(note.params, id, theirs)
            await exchange.notify(Notification(note.method, params))

        self._running[id] = exchange
        try:
            return await child.exchange(Outgoing(id, request.method, params, hear))
        except ConnectionClosed:
            if self._child is child:  # the next request starts another one
                self._child = None
            raise
        finally:
            del self._running[id]

    async def _listen(self, exchange: Exchange) -> Response:
        """Keep a stream of changes open, from one child after the other."""
        wanted = Listener(SUBSCRIPTIONS_LISTEN.read_params(exchange.request.params).notifications).wanted[1:]
        meta: dict[str, Any] = {META_SUBSCRIPTION_ID: exchange.request.id}
        try:
            while True:
                stretch = Stretch()
                try:
                    with stretch:
                        self._streams[stretch] = exchange
                        return await self._send(exchange)
                except _Replaced:
                    for change in wanted:
                        await exchange.notify(change_note(change, meta))
                finally:
                    del self._streams[stretch]
        except _Over:
            return Success(exchange.request.id, raw({"resultType": "complete", "_meta": meta}))
        finally:
            self._acknowledged.discard(exchange)

    def _remember(self, request: Request, response: Response) -> None:
        """Keep what the next child has to be told, and what the transport has to know of the session."""
        if isinstance(response, Failure) or self._session is None:
            return
        if request.method == INITIALIZE.name:
            said, agreed = INITIALIZE.read_params(request.params), INITIALIZE.read_result(response.result)
            self._session.open(agreed.protocol_version, said.capabilities, said.client_info)
            self._told = {INITIALIZE.name: request}
        elif request.method == SET_LEVEL.name:
            self._told[SET_LEVEL.name] = request
        elif request.method == RESOURCES_SUBSCRIBE.name:
            uri = RESOURCES_SUBSCRIBE.read_params(request.params).uri
            self._session.subscriptions.add(uri)
            self._told[f"{RESOURCES_SUBSCRIBE.name} {uri}"] = request
        elif request.method == RESOURCES_UNSUBSCRIBE.name:
            uri = RESOURCES_UNSUBSCRIBE.read_params(request.params).uri
            self._session.subscriptions.discard(uri)
            self._told.pop(f"{RESOURCES_SUBSCRIBE.name} {uri}", None)

    # From the server to the host.

    async def answer(self, request: Request) -> Response:
        """Ask the host what a child asks."""
        exchange = next((each for each in self._running.values() if each not in self._acknowledged), None)
        if exchange is None:
            return failure(request.id, InternalError("No request is running that this question could belong to"))
        try:
            response = await exchange.ask(request.method, request.params)
        except MCPError as error:
            return failure(request.id, InternalError(str(error)))
        response.id = request.id
        return response

    async def hear(self, note: Notification) -> None:
        """Tell the host what a child tells: on the stream it belongs to, where that can be seen."""
        meta = _meta_of(note.params)
        if META_SUBSCRIPTION_ID in meta:
            exchange = self._running.get(msgspec.json.decode(meta[META_SUBSCRIPTION_ID]))
            if exchange is not None and not (note.method == ACKNOWLEDGED.name and exchange in self._acknowledged):
                self._acknowledged.add(exchange)
                own = {**meta, META_SUBSCRIPTION_ID: exchange.request.id}
                members = msgspec.json.decode(note.params or b"{}", type=dict[str, Raw])
                await exchange.notify(Notification(note.method, raw({**members, "_meta": own})))
            return
        running = [each for each in self._running.values() if each not in self._acknowledged]
        if self._session is None:
            for each in running:
                await each.notify(note)
        elif running and note.method not in _OF_NO_REQUEST:
            await running[0].notify(note)
        else:
            self._session.push(note)

    # One child after the other.

    async def replace(self) -> None:
        """Start a new child in the place of the one there is, and tell the host. Raises what `_started` raises."""
        async with self._starting:
            fresh = await self._started()
            old, self._child = self._child, fresh
        if old is not None:
            self._background.start(self._retire(old))
        for stretch in tuple(self._streams):
            stretch.end(_Replaced())
        if self._session is not None and self._session.declared is not None:
            for change in (*LIST_CHANGES, *map(updated, self._session.subscriptions)):
                self._session.push(change_note(change))

    async def _retire(self, child: Child) -> None:
        await child.idle()
        await child.link.close()
        self._children.discard(child)

    async def _started(self) -> Child:
        """Start a child, and tell it what the session has told. Raises `MCPError` and `TimeoutError`."""
        link = await StdioServer(*self._command, env=_environment(), on_stderr=_show).connect(self)
        child = Child(link)
        try:
            async with asyncio.timeout(START_SECONDS):
                meta = Stamp(VERSIONS[-1], ClientCapabilities(), INFO).meta()
                await _asked(child, Request("", DISCOVER.name, raw({"_meta": meta})))
                for request in self._told.values():
                    await _asked(child, request)
                    if request.method == INITIALIZE.name:
                        await link.notify(Notification(INITIALIZED.name))
        except BaseException:
            await link.close()
            raise
        self._children.add(child)
        return child

    def drain(self) -> None:
        """End the streams."""
        for stretch in tuple(self._streams):
            stretch.end(_Over())

    async def close(self) -> None:
        """End the children. Twice is fine."""
        await self._background.close()
        await asyncio.gather(*(child.link.close() for child in self._children))


class Front(Service):
    """Stands in front of the server in `target`, and replaces it when a file changes."""

    def __init__(self, target: str, *, dev: bool = False) -> None:
        self._target = target
        self._command = this_splice("run", target, "--debug", *["--dev"] * dev)
        self._root = root_of(target)
        self._seen = look(self._root)
        self._lines: dict[int, Line] = {}
        self._ending: set[Line] = set()
        """Those whose sessions are over."""
        self._background = Background()
        self._watching: asyncio.Task[None] | None = None

    async def handle(self, exchange: Exchange) -> Response:
        """Let the server behind the session answer."""
        if self._watching is None:
            self._watching = self._background.start(self._watch())
        session = exchange.sender.session
        line = self._lines.get(id(session))
        if line is None:
            line = self._lines[id(session)] = Line(self._command, session)
            if session is not None:
                session.ended = self._end
        return await line.pass_on(exchange)

    async def hear(self, note: Notification, sender: Sender) -> None:
        """Let the server behind the session hear."""
        line = self._lines.get(id(sender.session))
        if line is not None:
            await line.tell(note)

    async def drain(self) -> None:
        """End the streams that would run for ever."""
        for line in self._lines.values():
            line.drain()

    async def close(self) -> None:
        """End the children."""
        await self._background.close()
        await asyncio.gather(*(line.close() for line in (*self._lines.values(), *self._ending)))
        self._lines.clear()

    def _end(self, session: Session) -> None:
        line = self._lines.pop(id(session), None)
        if line is not None:
            self._ending.add(line)
            self._background.start(self._ended(line))

    async def _ended(self, line: Line) -> None:
        await line.close()
        self._ending.discard(line)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            seen = await asyncio.to_thread(look, self._root)
            if seen != self._seen:
                self._seen = seen
                await self._reload()

    async def _reload(self) -> None:
        for line in tuple(self._lines.values()):
            try:
                await line.replace()
            except (MCPError, TimeoutError):
                tell_note(f"{self._target} did not start (see above); what ran before goes on")
            else:
                tell_note(f"{self._target} was loaded again")


async def _asked(child: Child, request: Request) -> None:
    """Send a request of ours. Raises what it is refused with."""
    response = await child.exchange(Outgoing(f"s{next(_ids)}", request.method, request.params, _ignore))
    if isinstance(response, Failure):
        raise error_of(response)


def _with_token(params: Raw | None, id: str) -> tuple[Raw | None, RequestId | None]:
    """Put our progress token in the place of the host's, which is returned too."""
    meta = _meta_of(params)
    if TOKEN not in meta:
        return params, None
    return restamp(params, {key: value for key, value in meta.items() if key != TOKEN}, id)


def _meta_of(params: Any) -> dict[str, Raw]:
    """Read the `_meta` of params; what is malformed has none."""
    try:
        return {} if params is None else _members_decoder.decode(params).meta or {}
    except jsonrpc.UNREADABLE:
        return {}


def _environment() -> dict[str, str]:
    """Write no bytecode: a file that changes twice in a second, and not in size, would be taken for its old self."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def _show(data: bytes) -> None:
    os.write(2, data)


async def _ignore(note: Notification) -> None:
    """Drop what belongs to a request of ours."""
