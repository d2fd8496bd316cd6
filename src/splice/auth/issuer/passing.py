"""The authorization endpoint of a proxy: the user decides on the client here, then says at the provider who they are.

The order is what makes it safe. The provider knows one client, the proxy, and may let a user pass whom it knows without
a word; so the question whether *this* client may act for the user is asked before, each time, and never remembered.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices#confused-deputy-problem
"""

import logging
from collections.abc import Awaitable, Callable

from msgspec import structs

from splice.auth.errors import AuthorizationFailed
from splice.auth.issuer.authorize import Asked, Authorization
from splice.auth.issuer.endpoints import Parts
from splice.auth.issuer.grants import Terms
from splice.auth.issuer.logins import Back, Login, Logins
from splice.auth.issuer.pages import Question, consent_page, message_page
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.signing import SigningIn
from splice.auth.issuer.store import Records
from splice.auth.issuer.upstream import Identity
from splice.auth.issuer.web import Answer, Request, redirect
from splice.errors import ConnectionClosed

_log = logging.getLogger("splice.auth.issuer")


class Passing(Authorization):
    """Lets a client ask, the user decide, and the provider say who that was. `provider` is its name, for people.

    `admits` tells whether a user of the provider is one of ours.
    """

    def __init__(
        self,
        parts: Parts,
        records: Records,
        signing_in: SigningIn,
        logins: Logins,
        *,
        admits: Callable[[Identity], Awaitable[bool]],
        provider: str,
    ) -> None:
        super().__init__(parts.policy, records, parts.clients, parts.grants, signing_in)
        self._logins = logins
        self._admits = admits
        self._provider = provider

    async def _shown(self, request: Request, asked: Asked) -> Answer:
        if asked.prompt == "none":
            raise Refused("consent_required", "The user is asked each time")
        form = self._signing_in.form(await self._signing_in.visit(request, asked.redirect_uri))
        question = Question(asked.client, "", asked.scopes, asked.resource, asked.redirect_uri, may_switch=False)
        return consent_page(form, question, under=f"After that, you sign in with {self._provider}")

    async def _answered(self, request: Request, asked: Asked) -> Answer:
        visit = await self._signing_in.visit(request, asked.redirect_uri)
        form = self._signing_in.checked(visit, request)
        if form.get("answer") != "allow":
            raise Refused("access_denied", "The user said no")
        login = Login(
            terms=Terms(
                client_id=asked.client.client_id, user="", scopes=asked.scopes, resource=asked.resource, jkt=asked.jkt
            ),
            redirect_uri=asked.redirect_uri,
            challenge=asked.challenge,
            state=asked.state,
        )
        try:
            address, cookie = await self._logins.begin(login)
        except (AuthorizationFailed, ConnectionClosed) as error:
            _log.error("%s cannot be asked who a user is: %s", self._provider, error)
            raise Refused("temporarily_unavailable", f"{self._provider} cannot be reached", status=503) from None
        return redirect(address, headers=[("set-cookie", cookie)])

    async def back(self, request: Request) -> Answer:
        """Answer at the callback: the provider sends a browser back."""
        try:
            back = await self._logins.end(request)
        except Refused as refused:
            return message_page("This login cannot be finished", refused.description, status=refused.status)
        found = await self._found(back)
        url = self._back(back.login.redirect_uri, back.login.state, found)
        return redirect(url, headers=[("set-cookie", back.cookie)])

    async def _found(self, back: Back) -> dict[str, str]:
        """Make the parameters that go to the client."""
        try:
            who = await self._logins.who(back)
        except (AuthorizationFailed, ConnectionClosed) as error:
            _log.error("a login failed: %s", error)
            return {"error": "server_error", "error_description": f"{self._provider} did not say who the user is"}
        if who is None:
            return {"error": "access_denied", "error_description": f"There was no login at {self._provider}"}
        if not await self._admits(who):
            return {"error": "access_denied", "error_description": "This user is not one of those who may come in"}
        login, terms = back.login, structs.replace(back.login.terms, user=who.subject)
        return {"code": await self._grants.code(terms, redirect_uri=login.redirect_uri, challenge=login.challenge)}
