"""Devices without a browser: the device shows a code, a user enters it on another one, and the device asks until then.

RFC 8628. The code that people type has 34 bits, so it lives ten minutes and guesses are counted. The page says what is
asked for, and that a code which came by mail is a trap.
"""

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct, structs

from splice.auth.issuer.authentication import Authentication
from splice.auth.issuer.clients import DEVICE_CODE, Client, Clients
from splice.auth.issuer.grants import Granted, Grants, Terms
from splice.auth.issuer.pages import Question, code_page, consent_page, message_page
from splice.auth.issuer.policy import Policy
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.signing import SigningIn, Visit
from splice.auth.issuer.store import Found, Records, digest, new_secret
from splice.auth.issuer.web import Answer, Request, as_json, redirect
from splice.stores.base import Conflict

PATH = "/device"
DEVICE_SECONDS = 600.0
INTERVAL_SECONDS = 5.0
"""How long a device waits between two requests; so much longer after each that came too soon."""

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""No vowels, so that no code is a word; nothing that looks like something else."""

DEVICE_RATE, DEVICE_BURST = 2.0, 100.0
"""How many devices a second may ask for a code, and how many at once after a pause."""

GUESS_RATE, GUESS_BURST = 1 / 20, 20.0
"""How many codes a second a user may enter, and how many at once after a pause."""


class Device(Struct, kw_only=True):
    """A device that waits, under the hash of its device code."""

    terms: Terms
    user_code: str
    expires: float
    interval: float = INTERVAL_SECONDS
    asked: float = 0.0
    """When it asked last."""
    answer: Literal["allow", "deny"] | None = None


class _Pointer(Struct):
    """Leads from a user code to a device."""

    device: str


class Devices:
    """Answers at the device authorization endpoint and its page, and gives devices what users granted."""

    def __init__(
        self,
        policy: Policy,
        records: Records,
        clients: tuple[Clients, Authentication],
        grants: Grants,
        signing_in: SigningIn,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._policy = policy
        self._records = records
        self._clients, self._authentication = clients
        self._grants = grants
        self._signing_in = signing_in
        self._clock = clock

    async def start(self, request: Request) -> Answer:
        """Answer a device that begins."""
        form = request.form()
        client = await self._authentication.client(request, form)
        if DEVICE_CODE not in client.grants:
            raise Refused("unauthorized_client", "This client is not registered for the device code grant")
        if await self._records.wait("devices", rate=DEVICE_RATE, burst=DEVICE_BURST):
            raise Refused("temporarily_unavailable", "Too many devices at once: try again", status=503)
        terms = Terms(
            client_id=client.client_id,
            user="",
            scopes=self._policy.scopes_of(form, client),
            resource=self._policy.resource_of(form),
        )
        code, letters = new_secret(), "".join(secrets.choice(LETTERS) for _ in range(8))
        user_code = f"{letters[:4]}-{letters[4:]}"
        device = Device(terms=terms, user_code=user_code, expires=self._clock() + DEVICE_SECONDS)
        await self._records.write("usercode", digest(letters), _Pointer(digest(code)), ttl=DEVICE_SECONDS)
        await self._records.write("device", digest(code), device, ttl=2 * DEVICE_SECONDS)
        url = self._policy.url(PATH)
        members: dict[str, Any] = {
            "device_code": code,
            "user_code": user_code,
            "verification_uri": url,
            "verification_uri_complete": f"{url}?user_code={user_code}",
            "expires_in": int(DEVICE_SECONDS),
            "interval": int(INTERVAL_SECONDS),
        }
        return as_json(members)

    async def redeem(self, form: dict[str, str], client: Client, jkt: str | None) -> Granted:
        """Give a device that asks what the user granted. Raises `Refused` while there is nothing, and if denied."""
        name = digest(form.get("device_code", ""))
        found = await self._records.find("device", name, Device)
        if found is None or found.value.terms.client_id != client.client_id:
            raise Refused("invalid_grant", "There is no such device code, or it was used already")
        device = found.value
        if device.expires <= self._clock():
            raise Refused("expired_token", "Nobody entered the code in time: begin anew")
        if device.answer is None:
            raise await self._not_yet(name, found)
        if not await self._records.remove("device", name):
            raise Refused("invalid_grant", "This device code was used already")
        if device.answer == "deny":
            raise Refused("access_denied", "The user said no")
        return await self._grants.grant(structs.replace(device.terms, jkt=jkt), client)

    async def _not_yet(self, name: str, found: Found[Device]) -> Refused:
        """Note that a device asked, and return what it is told."""
        device, now = found.value, self._clock()
        is_early = now - device.asked < device.interval
        interval = device.interval + INTERVAL_SECONDS if is_early else device.interval
        noted = structs.replace(device, asked=now, interval=interval)
        with suppress(Conflict):  # the user has just decided, or it asks twice at once: the next time will tell
            await self._records.write("device", name, noted, ttl=2 * DEVICE_SECONDS, expect=found.version)
        if is_early:
            return Refused("slow_down", f"Wait {interval:.0f} s between two requests")
        return Refused("authorization_pending", "The user has not decided yet")

    async def show(self, request: Request) -> Answer:
        """Answer a GET of the page: sign in, enter the code, decide."""
        visit = await self._signing_in.visit(request)
        user = visit.visitor.user
        if user is None:
            return self._signing_in.page(visit)
        code = request.parameters().get("user_code")
        if code is None:
            return code_page(self._signing_in.form(visit))
        try:
            _, found = await self._device(code, user)
            client = await self._clients.find(found.value.terms.client_id)
        except Refused as refused:
            return self._wrong(visit, code, refused)
        terms = found.value.terms
        scopes, barred = terms.scopes, None
        try:
            scopes = await self._grants.allowed(user, terms.scopes)
        except Refused as refused:
            barred = refused.description
        question = Question(client, user, scopes, terms.resource, code=found.value.user_code, barred=barred)
        return consent_page(self._signing_in.form(visit), question)

    async def answer(self, request: Request) -> Answer:
        """Answer a POST: a form of the page was filled in."""
        visit = await self._signing_in.visit(request)
        try:
            form = self._signing_in.checked(visit, request)
        except Refused as refused:
            return message_page("This did not work", refused.description, status=refused.status)
        answer = await self._signing_in.answer(visit, form)
        user = visit.visitor.user
        if answer is not None or user is None:
            return answer or self._signing_in.page(visit)
        if form.get("answer") == "code":
            letters = "".join(each for each in form.get("user_code", "").upper() if each in LETTERS)[:8]
            return redirect(f"{self._policy.path(PATH)}?user_code={letters}")
        code = request.parameters().get("user_code", "")
        try:
            await self._decide(code, user, visit.visitor.mark, "allow" if form.get("answer") == "allow" else "deny")
        except Refused as refused:
            return self._wrong(visit, code, refused)
        if form.get("answer") == "allow":
            return message_page("Allowed by you", "The device goes on by itself. You can close this page.")
        return message_page("Denied by you", "The device is told. You can close this page.")

    def _wrong(self, visit: Visit, code: str, refused: Refused) -> Answer:
        form = self._signing_in.form(visit)
        return code_page(form, code=code[:20], wrong=refused.description, status=refused.status)

    async def _device(self, code: str, user: str) -> tuple[str, Found[Device]]:
        """Find the device that shows a code and waits. Raises `Refused`."""
        if await self._records.wait(f"guess/{digest(user)}", rate=GUESS_RATE, burst=GUESS_BURST):
            raise Refused("slow_down", "Too many codes: wait a minute, then try again", status=429)
        letters = "".join(each for each in code[:40].upper() if each in LETTERS)
        pointer = await self._records.read("usercode", digest(letters), _Pointer)
        found = None if pointer is None else await self._records.find("device", pointer.device, Device)
        if pointer is None or found is None or found.value.expires <= self._clock() or found.value.answer is not None:
            raise Refused("invalid_request", "No device waits with this code: it is mistyped, used, or too old")
        return pointer.device, found

    async def _decide(self, code: str, user: str, mark: str | None, answer: Literal["allow", "deny"]) -> None:
        """Note what a user decided, unless somebody else just did. Raises `Refused`."""
        name, found = await self._device(code, user)
        asked = found.value.terms
        scopes = await self._grants.allowed(user, asked.scopes) if answer == "allow" else asked.scopes
        terms = structs.replace(asked, user=user, mark=mark, scopes=scopes)
        decided = structs.replace(found.value, terms=terms, answer=answer)
        try:
            await self._records.write("device", name, decided, ttl=2 * DEVICE_SECONDS, expect=found.version)
        except Conflict:  # the device asked just now, which is all the same, or it was decided: look again
            await self._decide(code, user, mark, answer)
            return
        await self._records.remove("usercode", digest(found.value.user_code.replace("-", "")))
