"""Gets tokens for a server, keeps them, sends them with its requests, and acts when they are refused.

A policy knows what to ask of whom; it yields steps, and the authorizer carries them out. There is one authorizer
per connection. What it gets is in a store, which all clients with the same policy share, and processes too if it keeps
files. One flow runs at a time for a server: in a task of its own, so that no caller who is cancelled ends it for
others, and under the lock of the store, which is read again first, so that of many who need a new token one gets it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from msgspec import Struct

from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.login.callback import Callback, open_browser, show_code, told_to
from splice.auth.login.challenges import Challenge, answerable, challenges_of
from splice.auth.login.discovery import Needed
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.given import GetsToken, GivenTokens
from splice.auth.login.keeping import MemoryTokens, TokenStore
from splice.auth.login.kept import Grant, Kept
from splice.auth.login.place import Place
from splice.auth.login.shown import Shows, shown_by
from splice.auth.login.steps import HTTP, Browse, Flow, HTTPReply, Show, Step, Supply
from splice.auth.login.supplies import supplied
from splice.errors import ConnectionClosed
from splice.protocol.uri import shown_url
from splice.rules.http.origins import is_loopback
from splice.transports.http.fetch import Authorizer as HTTPAuthorizer

AHEAD_SECONDS = 60.0
"""A token is refreshed so long before it ends: clocks differ, and requests take time. At most a tenth of its life."""

MAX_ASKED = 3
"""How often the user is asked within `WINDOW_SECONDS`: a server that takes no token would ask for ever."""

MAX_FLOWS = 10
"""How many tokens are got within `WINDOW_SECONDS`."""

WINDOW_SECONDS = 60.0

ASK_AGAIN_SECONDS = 600.0
"""How long what is sent again by itself, as a stream that broke is, waits after a user was asked in vain."""

GRACE_SECONDS = 5.0
"""How long closing waits for a flow that waits for no user: an answer that nobody reads may hold the only token."""

MAX_NONCE = 512

log = logging.getLogger("splice.auth")

Pause: TypeAlias = Callable[[], AbstractContextManager[Any]]
"""Stops the clocks of the client while the user is asked."""


@runtime_checkable
class Policy(Protocol):
    """Knows how to get a token. It may have attributes that say how that is done.

    - `tokens` is the store; unless there is one, logins are kept in memory, for all clients with this policy;
    - `browse` lets the user visit a URL, in place of the browser of the system; `show` is given a code to be entered;
    - `redirect_port` is where the browser comes back to; `fetcher` sends the requests.
    """

    @property
    def interactive(self) -> bool:
        """A user may have to log in with a browser."""
        ...

    def obtain(self, request: Needed, kept: Kept, /) -> Flow[Kept]:
        """Get a token, and return all that is to be kept. Raises `AuthorizationFailed`."""
        ...


class Means(Struct):
    """What an authorizer needs of the world."""

    send: Callable[[HTTP], Awaitable[HTTPReply]]
    now: Callable[[], float] = time.time
    """Seconds since 1970."""
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    pause: Pause = nullcontext


def authorizer_of(auth: Any, url: str, pause: Pause = nullcontext, shows: Shows | None = None) -> HTTPAuthorizer:
    """Make what authorizes the requests to the server at `url`. `auth` is what `Client(auth=)` takes.

    Where it is None, `shows` lets the user log in, if the server demands it. Raises `TypeError`, and `ValueError` for
    a token that does not fit into a header.
    """
    if auth is None and shows is not None:
        auth = shown_by(shows, shown_url(url))
    if isinstance(auth, str):
        return GivenTokens(url, auth)
    if isinstance(auth, type):
        raise TypeError(f"auth= takes an object, so write {auth.__name__}() and not {auth.__name__}")
    if isinstance(auth, Policy):
        place = Place(url)
        here = is_loopback(place.host)
        fetcher = getattr(auth, "fetcher", None) or Fetcher(allow_loopback=here, allow_private=[place.host])
        return Authorizer(place, auth, tokens_of(auth), Means(fetcher.send, pause=pause))
    if callable(auth):
        return GivenTokens(url, cast("GetsToken", auth))
    raise TypeError(f"auth= takes a token, a function or a policy such as OAuth(), not {type(auth).__name__}")


_IN_MEMORY: WeakKeyDictionary[Any, MemoryTokens] = WeakKeyDictionary()


def tokens_of(policy: Policy) -> TokenStore:
    """Return where the logins of a policy are kept."""
    found: TokenStore | None = getattr(policy, "tokens", None)
    if found is not None:
        return found
    try:
        return _IN_MEMORY.setdefault(policy, MemoryTokens())
    except TypeError:  # cannot be a key
        return MemoryTokens()


class Authorizer:
    """Authorizes the requests to one server. Belongs to one event loop."""

    def __init__(self, place: Place, policy: Policy, tokens: TokenStore, means: Means) -> None:
        self._place = place
        self._policy = policy
        self._tokens = tokens
        self._means = means
        self._kept: Kept | None = None
        """What the store held when it was last read, or what was put there since."""
        self._key: tuple[str, DPoPKey] | None = None
        """The key that the token is bound to, with its text."""
        self._nonce: str | None = None
        self._since = 0.0
        """When the token was got here; 0: elsewhere."""
        self._ahead_of: str | None = None
        """The token that was to be refreshed ahead of its end, once: if that failed it serves until it ends."""
        self._challenge: Challenge | None = None
        self._flow: asyncio.Task[None] | None = None
        self._is_ahead = self._is_asking = self._is_closed = False
        self._asked: deque[float] = deque(maxlen=MAX_ASKED)
        self._flows: deque[float] = deque(maxlen=MAX_FLOWS)
        self._page = ""
        """Where the user is asked."""
        self._granted: dict[str, float] = {}
        """When the user was asked where, and a token came of it."""

    # The seam to HTTP.

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """Make the headers for a request. Waits for a login in progress; raises `AuthorizationFailed` when it fails."""
        if not self._place.holds(url):
            return {}
        if self._flow is not None:
            await self._joined(self._flow)
        if self._kept is None:
            self._kept = await self._tokens.load(self._place.url) or Kept()
        if self._kept.grant is not None and self._is_due(self._kept.grant):
            await self._refresh_ahead(self._kept.grant)
        grant = self._kept.grant
        if grant is None:
            return {}
        key = self._key_of(grant)
        if key is None:
            return {"Authorization": _header_of(grant) or ""}
        proof = key.proof(method, url, self._means.now(), access_token=grant.access_token, nonce=self._nonce)
        return {"Authorization": _header_of(grant) or "", "DPoP": proof}

    async def refused(self, url: str, status: int, headers: Mapping[str, str], sent: Mapping[str, str]) -> bool:
        """Get another token if that may help. True: there is one. Raises `AuthorizationFailed` when there is none."""
        challenges = challenges_of([headers.get("www-authenticate", "")])
        challenge = answerable(challenges)
        if not self._place.holds(url) or (challenges and challenge is None):
            return False
        error, nonce = None if challenge is None else challenge.error, headers.get("dpop-nonce", "")
        if nonce.isascii() and nonce.isprintable() and 0 < len(nonce) <= MAX_NONCE:
            self._nonce = nonce
            if error == "use_dpop_nonce" and "DPoP" in sent:
                return True
        if status == 403 and error != "insufficient_scope":
            return False
        self._challenge = challenge or self._challenge
        return await self._replaced(status, challenge, sent.get("Authorization"))

    async def close(self) -> None:
        """End what is going on. A flow that waits for no user may end by itself first."""
        self._is_closed = True
        flow = self._flow
        if flow is not None and not flow.done():
            if not self._is_asking:
                await asyncio.wait([flow], timeout=GRACE_SECONDS)
            flow.cancel()
            await asyncio.wait([flow])

    async def login(self) -> None:
        """Get a token now, whatever there is. Raises `AuthorizationFailed`."""
        await self._replaced(401, self._challenge, None if self._kept is None else _header_of(self._kept.grant))

    @property
    def kept(self) -> Kept:
        """What is kept now."""
        return self._kept or Kept()

    # When to get a token.

    def _is_due(self, grant: Grant) -> bool:
        """Tell whether a token is to be refreshed before it is refused."""
        if grant.expires is None or grant.refresh_token is None or grant.access_token == self._ahead_of:
            return False
        ahead = min(AHEAD_SECONDS, (grant.expires - self._since) / 10)
        return self._means.now() >= grant.expires - ahead

    async def _refresh_ahead(self, grant: Grant) -> None:
        """Refresh a token that is about to end. If that fails, a request will tell whether it still is good."""
        self._ahead_of = grant.access_token
        with suppress(AuthorizationFailed):
            await self._replaced(401, self._challenge, _header_of(grant), ahead=True)

    async def _replaced(
        self, status: int, challenge: Challenge | None, was: str | None, *, ahead: bool = False
    ) -> bool:
        """Get a token in place of the one that `was` sent. True: there is one now."""
        if self._flow is not None:
            await self._joined(self._flow)
        if self._kept is None or _header_of(self._kept.grant) in (None, was):
            if self._is_closed:
                raise ConnectionClosed(f"The connection to {self._place.name} is closed")
            if self._flow is None:
                needed = Needed(url=self._place.url, challenge=challenge, status=status, now=self._means.now())
                self._is_ahead = ahead
                self._flow = asyncio.get_running_loop().create_task(self._run(needed, was))
                self._flow.add_done_callback(self._ended)
            await self._joined(self._flow)
        return self._kept is not None and _header_of(self._kept.grant) not in (None, was)

    async def _joined(self, flow: asyncio.Task[None]) -> None:
        """Wait for a flow without ending it. Raises as it does; one that runs ahead of need may fail."""
        is_ahead = self._is_ahead
        try:
            await asyncio.shield(flow)
        except AuthorizationFailed:
            if not is_ahead:
                raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if flow.cancelled() and (task is None or not task.cancelling()):
                raise ConnectionClosed(f"The connection to {self._place.name} was closed during a login") from None
            raise

    def _ended(self, flow: asyncio.Task[None]) -> None:
        self._flow = None
        if not flow.cancelled() and flow.exception() is not None:  # taken note of: perhaps nobody waits any more
            log.debug("no token for %s: %s", self._place.name, type(flow.exception()).__name__)

    # Getting one.

    async def _run(self, needed: Needed, was: str | None) -> None:
        """Run a flow of the policy, unless somebody else got a token meanwhile, and keep what it returns."""
        server = self._place.url
        async with self._tokens.locked(server):
            kept = await self._tokens.load(server) or Kept()
            if _header_of(kept.grant) in (None, was):
                self._count(self._flows, needed.now)
                self._page = ""
                try:
                    kept = await self._driven(needed, kept)
                except AuthorizationFailed as error:
                    if self._page:  # nobody is to be asked over and over by what is sent again by itself
                        error.retry_after = ASK_AGAIN_SECONDS
                    raise
                self._granted[self._page], self._since = self._means.now(), needed.now
                self._kept = kept
                await self._tokens.save(server, kept)
            self._kept = kept

    async def _driven(self, needed: Needed, kept: Kept) -> Kept:
        """Carry out the steps of a flow. Raises `AuthorizationFailed`."""
        with ExitStack() as stack:
            callback: Callback | None = None
            if self._policy.interactive and not self._is_ahead:
                callback = stack.enter_context(self._callback(kept))
                needed.redirect_uri = callback.redirect_uri
            flow = self._policy.obtain(needed, kept)
            stack.callback(flow.close)
            outcome: Any = None
            failed: Exception | None = None
            try:
                while True:
                    step = flow.send(outcome) if failed is None else flow.throw(failed)
                    outcome = failed = None
                    try:
                        outcome = await self._taken(step, callback, needed, stack)
                    except (ConnectionClosed, AuthorizationFailed) as error:
                        failed = error
            except StopIteration as done:
                found: Kept = done.value
                return found
            except ConnectionClosed as error:
                raise AuthorizationFailed(str(error)) from error
            finally:
                self._is_asking = False

    async def _taken(self, step: Step, callback: Callback | None, needed: Needed, stack: ExitStack) -> Any:
        """Carry out one step, and return its outcome."""
        match step:
            case HTTP():
                return await self._means.send(step)
            case Supply():
                return await supplied(step)
            case Browse():
                self._check_asking(step.url, needed)
                with self._means.pause():
                    if callback is None:
                        raise AuthorizationFailed(f"{self._place.name} wants the user to log in")
                    self._is_asking = True
                    found = await callback.visit(step, getattr(self._policy, "browse", None) or open_browser)
                    self._is_asking = False
                    return found
            case Show():
                self._check_asking(step.url, needed)
                stack.enter_context(self._means.pause())
                self._is_asking = True
                return await told_to(getattr(self._policy, "show", None) or show_code, step, "show")
            case _:
                return await self._means.sleep(step.seconds)

    def _callback(self, kept: Kept) -> Callback:
        """Take the port that the policy names, or the one that was registered, or any."""
        wanted: int = getattr(self._policy, "redirect_port", 0)
        known = kept.registration.redirect_uris if kept.registration is not None else ()
        for each in known if wanted == 0 else ():
            with suppress(AuthorizationFailed, ValueError):
                return Callback(urlsplit(each).port or 0)
        return Callback(wanted)

    def _check_asking(self, url: str, needed: Needed) -> None:
        """Raise `AuthorizationFailed` where the user was asked just now and it did not help."""
        if self._is_ahead:
            raise AuthorizationFailed(f"{self._place.name} wants the user to log in")
        self._page = url.partition("?")[0]
        if needed.status == 401 and needed.now - self._granted.get(self._page, -WINDOW_SECONDS) < WINDOW_SECONDS:
            told = f"{self._place.name} refuses the token that it was just given"
            raise AuthorizationFailed(f"{told}: whoever runs it should compare its audience and issuer with the token")
        self._count(self._asked, needed.now)

    def _count(self, times: deque[float], now: float) -> None:
        """Take note of one more. Raises `AuthorizationFailed` when there were too many of late."""
        if len(times) == times.maxlen and now - times[0] < WINDOW_SECONDS:
            told = f"{self._place.name} goes on refusing tokens: {len(times)} within {WINDOW_SECONDS:g} s"
            raise AuthorizationFailed(f"{told}; given up for now")
        times.append(now)

    def _key_of(self, grant: Grant) -> DPoPKey | None:
        if grant.dpop_key is None:
            return None
        if self._key is None or self._key[0] != grant.dpop_key:
            try:
                self._key = grant.dpop_key, DPoPKey.load(grant.dpop_key)
            except ValueError:
                told = f"The key that is kept for {self._place.name} cannot be used: log in again"
                raise AuthorizationFailed(told) from None
        return self._key[1]


def _header_of(grant: Grant | None) -> str | None:
    if grant is None:
        return None
    return f"{'Bearer' if grant.dpop_key is None else 'DPoP'} {grant.access_token}"
