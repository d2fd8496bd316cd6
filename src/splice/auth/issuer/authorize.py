"""The authorization endpoint: a client sends the user here, who signs in and decides; a code goes back.

The whole request stays in the query of the page, and its forms lead to the same address: it is read and checked anew
each time, and nothing is kept of it until the user has decided. Every answer names the issuer (RFC 9207).

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations
"""

import json
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from msgspec import Struct, structs

from splice.auth.issuer.clients import Client, Clients, is_loopback
from splice.auth.issuer.grants import CHALLENGE, Grants, Terms
from splice.auth.issuer.pages import Question, consent_page, message_page
from splice.auth.issuer.policy import Policy
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.signing import SigningIn, Visit
from splice.auth.issuer.store import Records, digest
from splice.auth.issuer.web import Answer, Request, redirect

CONSENT_SECONDS = 180 * 86_400.0
"""How long it is remembered what a user allowed."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a client asks a user for."""

    client: Client
    redirect_uri: str
    registered_uri: str
    """The one of the client's own that it fits: that of a program on this computer has another port each time."""
    state: str | None
    scopes: tuple[str, ...]
    resource: str
    challenge: str
    jkt: str | None
    prompt: str | None

    def consent(self, user: str) -> str:
        """Name what a user allows, but for the scopes."""
        return digest(json.dumps([user, self.client.client_id, self.registered_uri, self.resource]))

    @property
    def is_rememberable(self) -> bool:
        """Tell whether the next request like this is from the same program (RFC 8252 section 8.6)."""
        return self.client.origin != "document" or not is_loopback(self.redirect_uri)


class Consent(Struct):
    """Scopes that a user allowed."""

    scopes: tuple[str, ...]


class Authorization:
    """Answers at the authorization endpoint. `auto_approve` is a user who allows everything at once, unasked."""

    def __init__(
        self,
        policy: Policy,
        records: Records,
        clients: Clients,
        grants: Grants,
        signing_in: SigningIn,
        auto_approve: str | None = None,
    ) -> None:
        self._policy = policy
        self._records = records
        self._clients = clients
        self._grants = grants
        self._signing_in = signing_in
        self._auto_approve = auto_approve

    async def show(self, request: Request) -> Answer:
        """Answer a GET: with a page, or at once if there is nothing to ask."""
        return await self._handle(request, self._shown)

    async def answer(self, request: Request) -> Answer:
        """Answer a POST: a form of ours was filled in."""
        return await self._handle(request, self._answered)

    async def _handle(self, request: Request, act: Callable[[Request, Asked], Awaitable[Answer]]) -> Answer:
        try:
            parameters = request.parameters()
            client, redirect_uri, registered_uri = await self._client(parameters)
        except Refused as refused:  # it is not known whom to tell but the user
            status = 400 if refused.status == 401 else refused.status
            return message_page("This request cannot be answered", refused.description, status=status)
        try:
            return await act(request, self._read(parameters, client, redirect_uri, registered_uri))
        except Refused as refused:
            if refused.status != 400:  # about the user, not the request
                return message_page("This did not work", refused.description, status=refused.status)
            found = {"error": refused.code, "error_description": refused.description}
            url = self._back(redirect_uri, parameters.get("state"), found)
            if client.origin == "operator" or is_loopback(redirect_uri) or refused.code == "access_denied":
                return redirect(url)
            # Nobody vouches for this address: we are no stepping stone to it unless the user wants to go there.
            return message_page("The program asked for something wrong", refused.description, status=400, back=url)

    async def _client(self, parameters: dict[str, str]) -> tuple[Client, str, str]:
        """Return the client, its redirect URI, and the registered one that it fits. Raises `Refused`."""
        client = await self._clients.find(parameters.get("client_id", ""))
        redirect_uri = parameters.get("redirect_uri", "")
        registered_uri = client.registered_uri(redirect_uri)
        if registered_uri is None:
            told = "redirect_uri is missing, or not one of those that this client has registered"
            raise Refused("invalid_request", told)
        return client, redirect_uri, registered_uri

    def _read(self, parameters: dict[str, str], client: Client, redirect_uri: str, registered_uri: str) -> Asked:
        """Check the rest of the request. Raises `Refused`."""
        if parameters.get("response_type") != "code":
            raise Refused("unsupported_response_type", "response_type must be code")
        if "authorization_code" not in client.grants:
            raise Refused("unauthorized_client", "This client may not ask users in a browser")
        if parameters.get("code_challenge_method") != "S256" or not CHALLENGE.fullmatch(
            parameters.get("code_challenge", "")
        ):
            raise Refused("invalid_request", "PKCE is required: code_challenge, with code_challenge_method=S256")
        jkt = parameters.get("dpop_jkt")
        if jkt is not None and not CHALLENGE.fullmatch(jkt):
            raise Refused("invalid_request", "dpop_jkt must be the SHA-256 thumbprint of a key")
        return Asked(
            client=client,
            redirect_uri=redirect_uri,
            registered_uri=registered_uri,
            state=parameters.get("state"),
            scopes=self._policy.scopes_of(parameters, client),
            resource=self._policy.resource_of(parameters),
            challenge=parameters["code_challenge"],
            jkt=jkt,
            prompt=parameters.get("prompt"),
        )

    async def _shown(self, request: Request, asked: Asked) -> Answer:
        # A page that any other site can open must not send codes to addresses that somebody else has registered.
        if self._auto_approve and (asked.client.origin == "operator" or is_loopback(asked.redirect_uri)):
            scopes = await self._grants.allowed(self._auto_approve, asked.scopes)
            return await self._granted(structs.replace(asked, scopes=scopes), self._auto_approve, None)
        visit = await self._signing_in.visit(request, asked.redirect_uri)
        user = visit.visitor.user
        if user is None:
            if asked.prompt == "none":
                raise Refused("login_required", "Nobody has signed in")
            return self._signing_in.page(visit)
        try:
            asked = structs.replace(asked, scopes=await self._grants.allowed(user, asked.scopes))
        except Refused as refused:
            if asked.prompt == "none":
                raise
            return self._question(visit, asked, user, barred=refused.description)
        if asked.prompt != "consent" and await self._is_allowed(asked, user):
            return await self._granted(asked, user, visit.visitor.mark)
        if asked.prompt == "none":
            raise Refused("consent_required", "The user has not allowed this yet")
        return self._question(visit, asked, user)

    def _question(self, visit: Visit, asked: Asked, user: str, barred: str | None = None) -> Answer:
        question = Question(asked.client, user, asked.scopes, asked.resource, asked.redirect_uri, barred=barred)
        return consent_page(self._signing_in.form(visit), question)

    async def _answered(self, request: Request, asked: Asked) -> Answer:
        visit = await self._signing_in.visit(request, asked.redirect_uri)
        form = self._signing_in.checked(visit, request)
        answer = await self._signing_in.answer(visit, form)
        user = visit.visitor.user
        if answer is not None or user is None:
            return answer or self._signing_in.page(visit)
        try:
            asked = structs.replace(asked, scopes=await self._grants.allowed(user, asked.scopes))
        except Refused as refused:  # there was only one answer, and the client is told why
            raise Refused("access_denied", refused.description) from None
        if form.get("answer") != "allow":
            raise Refused("access_denied", "The user said no")
        if asked.is_rememberable:
            await self._remember(asked, user)
        return await self._granted(asked, user, visit.visitor.mark)

    async def _is_allowed(self, asked: Asked, user: str) -> bool:
        if not asked.is_rememberable:
            return False
        consent = await self._records.read("consent", asked.consent(user), Consent)
        return consent is not None and set(asked.scopes) <= set(consent.scopes)

    async def _remember(self, asked: Asked, user: str) -> None:
        name = asked.consent(user)
        before = await self._records.read("consent", name, Consent)
        scopes = tuple(dict.fromkeys((*(before.scopes if before else ()), *asked.scopes)))
        await self._records.write("consent", name, Consent(scopes), ttl=CONSENT_SECONDS)

    async def _granted(self, asked: Asked, user: str, mark: str | None) -> Answer:
        """Send a code back."""
        terms = Terms(
            client_id=asked.client.client_id,
            user=user,
            mark=mark,
            scopes=asked.scopes,
            resource=asked.resource,
            jkt=asked.jkt,
        )
        code = await self._grants.code(terms, redirect_uri=asked.redirect_uri, challenge=asked.challenge)
        return redirect(self._back(asked.redirect_uri, asked.state, {"code": code}))

    def _back(self, redirect_uri: str, state: str | None, found: dict[str, str]) -> str:
        answer = {**found, **({} if state is None else {"state": state}), "iss": self._policy.issuer}
        return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{urlencode(answer)}"
