"""Access tokens that only their issuer can read: it is asked, and its answer is used for a short while.

https://www.rfc-editor.org/rfc/rfc7662
"""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from time import time
from typing import Annotated, Any, TypedDict, Unpack
from urllib.parse import quote_plus, urlencode

from splice.auth.errors import AuthorizationFailed
from splice.auth.fetcher import Fetcher
from splice.auth.guard.challenges import Unavailable
from splice.auth.guard.claims import audiences, number, texts, words
from splice.auth.guard.refused import Refusals
from splice.auth.guard.remembered import Remembered
from splice.auth.login.steps import HTTP, HTTPReply
from splice.auth.login.urls import parts_of, shown
from splice.auth.signed import Refused
from splice.errors import ConnectionClosed
from splice.rules.http.origins import is_loopback
from splice.rules.options import Option, checked, option_table
from splice.rules.principal import Principal

KEEP_SECONDS = 30.0
"""How long an answer is used. A token that was revoked is good for as long, and its streams for less than a minute."""

MAX_ASKING = 256
"""How many tokens the issuer is asked about at once: a flood of made-up ones is not to become one of requests to it."""


class IntrospectionOptions(TypedDict, total=False):
    """How tokens are checked, where it differs from the default."""

    issuer: Annotated[str, Option(str, "a URL such as 'https://login.example'", len)]
    """Who issues the tokens; told to clients too. Where the answer names an issuer, it must be this one.

    Without it the issuer of a principal is the one that the answer names, else `url`, and clients are told of none.
    """
    keep: Annotated[float, Option((int, float), "seconds, 0 to 60", lambda seconds: 0 <= seconds <= 60)]
    """How long an answer is used; 30 by default."""
    fetcher: Annotated[Fetcher, Option(Fetcher, "a Fetcher")]
    """Asks the issuer."""


_OPTIONS = option_table(IntrospectionOptions)


class IntrospectionVerifier:
    """Asks the issuer of tokens at `url`, as the client `client_id`, and takes those that are for one of `audience`.

    That is what `aud` of the answer must name: the public URL of the endpoint, or what the issuer calls it. Raises
    `TypeError` and `ValueError` for options that make no sense.
    """

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        *,
        audience: str | Sequence[str],
        **options: Unpack[IntrospectionOptions],
    ) -> None:
        given = checked("IntrospectionVerifier", options, _OPTIONS)
        parts = parts_of(url)
        if parts is None:
            raise ValueError(f"an issuer is asked by https, or by http on this machine: {url!r} is neither")
        host = parts.hostname or ""
        self._url = url
        self._fetcher = given.get("fetcher") or Fetcher(
            allow_loopback=is_loopback(host), allow_private=[host], redirects=0
        )
        pair = f"{quote_plus(client_id)}:{quote_plus(client_secret)}"
        self._authorization = f"Basic {b64encode(pair.encode()).decode()}"
        self._issuer: str | None = given.get("issuer")
        self._audience = audiences("IntrospectionVerifier", audience)
        self._refusals = Refusals()
        self._remembered = Remembered(given.get("keep", KEEP_SECONDS))
        self._asking: dict[str, asyncio.Task[Principal | None]] = {}
        self.issuers = () if self._issuer is None else (self._issuer,)
        """Who issues the tokens, if that was said."""

    def __repr__(self) -> str:
        return f"IntrospectionVerifier({self._url!r})"

    async def verify(self, token: str) -> Principal | None:
        """Tell who a token stands for. Raises `Unavailable` when the issuer does not answer."""
        principal = self._remembered.get(token)
        if principal is not None:
            return principal
        task = self._asking.get(token)
        if task is None:
            if len(self._asking) >= MAX_ASKING:
                raise Unavailable(f"{shown(self._url)} is being asked about {MAX_ASKING} other tokens")
            task = self._asking[token] = asyncio.get_running_loop().create_task(self._ask(token))
            task.add_done_callback(lambda _: self._asking.pop(token, None))
        return await asyncio.shield(task)

    async def _ask(self, token: str) -> Principal | None:
        headers = {
            "Authorization": self._authorization,
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        body = urlencode({"token": token, "token_type_hint": "access_token"}).encode()
        try:
            reply = await self._fetcher.send(HTTP(method="POST", url=self._url, headers=headers, body=body))
        except (ConnectionClosed, AuthorizationFailed) as error:
            raise Unavailable(str(error)) from None
        members = self._members(reply)
        try:
            principal = self._principal(members)
        except Refused as refused:
            self._refusals.tell(refused)
            return None
        self._remembered.add(token, principal)
        return principal

    def _members(self, reply: HTTPReply) -> dict[str, Any]:
        """Read the answer. Raises `Unavailable` for anything but one that says whether the token is active."""
        members = reply.members()
        if reply.status != 200 or not isinstance(members.get("active"), bool):
            hint = ": are client_id and client_secret right?" if reply.status in (400, 401, 403) else ""
            raise Unavailable(f"{shown(self._url)} answered with status {reply.status}, not about a token{hint}")
        return members

    def _principal(self, said: dict[str, Any]) -> Principal:
        """Make a principal of what is said of a token. Raises `Refused` where it is not one for us."""
        if said["active"] is not True:
            raise Refused("its issuer says that it is not active: it has expired, was revoked, or is unknown there")
        audience, expires = said.get("aud"), number(said.get("exp"))
        if audience is None:
            raise Refused("its issuer does not say whom it is for: the answer has no aud")
        if self._audience.isdisjoint(texts(audience)):
            raise Refused("it is for %.100a, not for %s", audience, " or ".join(sorted(self._audience)))
        if said.get("exp") is not None and (expires is None or time() >= expires):
            raise Refused("it has expired")
        client = said.get("client_id")
        client = client if isinstance(client, str) else ""
        subject = said.get("sub") or said.get("username") or client
        if not isinstance(subject, str) or not subject:
            raise Refused("its issuer does not say whose it is")
        scopes = frozenset(words(said.get("scope")))
        issuer = self._issuer_of(said)
        return Principal(subject=subject, issuer=issuer, client=client, scopes=scopes, expires=expires, claims=said)

    def _issuer_of(self, said: dict[str, Any]) -> str:
        """Tell who issued a token: who is asked, where the answer names nobody. Raises `Refused`."""
        issuer = said.get("iss")
        if issuer is None:
            return self._issuer or self._url
        if self._issuer is not None and issuer != self._issuer:
            raise Refused("it is of %.100a, not of %s", issuer, self._issuer)
        if not isinstance(issuer, str) or not issuer:
            raise Refused("its issuer has the name %.100a, which is none", issuer)
        return issuer
