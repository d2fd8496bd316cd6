"""Devices without a browser: they wait for a user who enters their code."""

from typing import Any

import pytest

from auth.issuer.serving import PASSWORD, RESOURCE, Reply, Served, serving
from splice.auth.issuer.clients import DEVICE_CODE
from splice.stores.memory import MemoryStore


async def begin(served: Served) -> Any:
    reply = await served.post("/device_authorization", client_id="demo", scope="read", resource=RESOURCE)
    assert reply.status == 200, reply.text
    return reply.json


async def poll(served: Served, device: Any, client_id: str = "demo") -> Reply:
    served.clock.now += 6
    code = device["device_code"]
    return await served.post("/token", grant_type=DEVICE_CODE, device_code=code, client_id=client_id)


async def sign_in(served: Served) -> None:
    await served.browser.sign_in("/device")


async def test_a_user_enters_the_code_and_the_device_gets_tokens() -> None:
    async with serving() as served:
        device = await begin(served)
        assert device["verification_uri"] == f"{served.browser.base}/device"
        assert (await poll(served, device)).json["error"] == "authorization_pending"
        await sign_in(served)
        typed = device["user_code"].lower().replace("-", " ")
        entered = await served.browser.fill("/device", answer="code", user_code=typed)
        page = await served.get(entered.headers["location"])
        assert device["user_code"] in page.text
        assert RESOURCE in page.text
        assert "Did you start this yourself" in page.text
        allowed = await served.post(entered.headers["location"], token=page.token, answer="allow")
        assert "Allowed by you" in allowed.text
        tokens = (await poll(served, device)).json
        found = await served.introspect(tokens["access_token"])
        assert (found["sub"], found["aud"], found["scope"]) == ("anna", RESOURCE, "read")
        assert (await poll(served, device)).json["error"] == "invalid_grant"
        assert (await served.refresh(tokens["refresh_token"])).status == 200


async def test_a_user_says_no() -> None:
    async with serving() as served:
        device = await begin(served)
        await sign_in(served)
        path = device["verification_uri_complete"].removeprefix(served.browser.base)
        assert "Denied by you" in (await served.browser.fill(path, answer="deny")).text
        assert (await poll(served, device)).json["error"] == "access_denied"
        assert "No device waits" in (await served.get(path)).text


async def test_a_device_that_hurries_has_to_wait_longer() -> None:
    async with serving() as served:
        device = await begin(served)
        await poll(served, device)
        served.clock.now -= 5
        told = await poll(served, device)
        assert told.json == {"error": "slow_down", "error_description": "Wait 10 s between two requests"}
        assert (await poll(served, device)).json["error"] == "slow_down"
        served.clock.now += 20
        assert (await poll(served, device)).json["error"] == "authorization_pending"


async def test_a_code_that_nobody_enters_ends() -> None:
    async with serving() as served:
        device = await begin(served)
        await sign_in(served)
        served.clock.now += 601
        path = device["verification_uri_complete"].removeprefix(served.browser.base)
        assert "No device waits" in (await served.get(path)).text
        assert (await poll(served, device)).json["error"] == "expired_token"


async def test_a_device_code_is_for_its_client() -> None:
    async with serving() as served:
        await served.issuer.add_client("other", redirect_uris=["https://app.example/"])
        device = await begin(served)
        assert (await poll(served, device, "other")).json["error"] == "invalid_grant"


async def test_a_client_must_be_registered_for_it() -> None:
    async with serving() as served:
        made = await served.send(
            "POST",
            "/register",
            json={"redirect_uris": ["https://app.example/"], "token_endpoint_auth_method": "none"},
        )
        reply = await served.post("/device_authorization", client_id=made.json["client_id"])
        assert reply.json["error"] == "unauthorized_client"


async def test_nobody_guesses_codes() -> None:
    async with serving() as served:
        await sign_in(served)
        for _ in range(20):
            assert (await served.get("/device?user_code=BBBB-BBBB")).status == 400
        assert (await served.get("/device?user_code=BBBB-BBBB")).status == 429


@pytest.mark.parametrize("answer", ["allow", "code"])
async def test_a_form_of_another_page_is_refused(answer: str) -> None:
    async with serving() as served:
        device = await begin(served)
        await sign_in(served)
        token = (await served.get("/device")).token
        path = f"/device?user_code={device['user_code']}"
        assert (await served.post(path, token=token, answer=answer)).status == 403
        assert (await poll(served, device)).json["error"] == "authorization_pending"


async def test_a_device_must_be_confirmed_by_somebody_who_signed_in() -> None:
    async with serving() as served:
        device = await begin(served)
        path = f"/device?user_code={device['user_code']}"
        page = await served.get(path)
        assert "Password" in page.text
        assert "Password" in (await served.post(path, token=page.token, answer="allow")).text
        assert (await poll(served, device)).json["error"] == "authorization_pending"


async def test_what_is_decided_twice_at_once_counts_once() -> None:
    class Slow(MemoryStore):
        """Lets a second decision be made while the first is written."""

        meanwhile: Any = None

        async def put(self, key: str, value: bytes, *, ttl: float | None, expect: int | None = None) -> int:
            if "/device/" in key and self.meanwhile is not None:
                meanwhile, self.meanwhile = self.meanwhile, None
                await meanwhile()
            return await super().put(key, value, ttl=ttl, expect=expect)

    store = Slow()
    async with serving(store) as served:
        device = await begin(served)
        await sign_in(served)
        path = device["verification_uri_complete"].removeprefix(served.browser.base)
        page = await served.get(path)
        statuses: list[int] = []

        async def allow_and_fetch() -> None:
            assert "Allowed by you" in (await served.post(path, token=page.token, answer="allow")).text
            statuses.append((await poll(served, device)).status)

        store.meanwhile = allow_and_fetch
        assert "No device waits" in (await served.post(path, token=page.token, answer="allow")).text
        assert statuses == [200]
        assert (await poll(served, device)).json["error"] == "invalid_grant"


async def test_a_user_is_granted_only_their_own_scopes() -> None:
    async with serving() as served:
        form = {"client_id": "demo", "scope": "read write", "resource": RESOURCE}
        device = (await served.post("/device_authorization", **form)).json
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        await sign_in(served)
        path = device["verification_uri_complete"].removeprefix(served.browser.base)
        assert "<code>write</code>" not in (await served.get(path)).text
        await served.browser.fill(path, answer="allow")
        assert (await poll(served, device)).json["scope"] == "read"


async def test_a_user_who_may_have_nothing_of_it_is_told() -> None:
    async with serving() as served:
        device = await begin(served)
        await served.issuer.add_user("anna", PASSWORD, scopes=["other"])
        await sign_in(served)
        path = device["verification_uri_complete"].removeprefix(served.browser.base)
        page = await served.get(path)
        assert "Nothing of what was asked for" in page.text
        assert 'value="allow"' not in page.text
        assert "Nothing of what was asked for" in (await served.post(path, token=page.token, answer="allow")).text
        assert "Denied by you" in (await served.post(path, token=page.token, answer="deny")).text
        assert (await poll(served, device)).json["error"] == "access_denied"
