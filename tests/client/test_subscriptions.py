"""Hearing of changes: requests in the legacy era, one open stream in the modern one."""

import asyncio
from typing import Any

import pytest

from client.scripted import ACKNOWLEDGED, LISTEN, Listenable, ListenableHTTP, ListenableStdio, legacy, until
from splice import Change, Client
from splice.client import subscriptions
from splice.errors import ConnectionClosed, InvalidRequest, LocalProtocolError, MethodNotFound


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "RECONNECT_SECONDS", (0.001,))
    monkeypatch.setattr(subscriptions, "ACKNOWLEDGE_SECONDS", 0.05)


# Legacy.


async def test_a_legacy_server_is_told_of_each_resource() -> None:
    async def done(message: Any, link: Any) -> Any:
        return {}

    changes: list[Change] = []
    target = legacy(resources__subscribe=done, resources__unsubscribe=done)
    async with Client(target, on_change=changes.append, protocol="legacy") as client:
        await client.subscribe("x://a")
        await target.link.tell_all("notifications/resources/updated", {"uri": "x://a"})
        await target.link.tell_all("notifications/tools/list_changed")
        await client.unsubscribe("x://a")
    assert [message["method"] for message in target.sent[2:]] == ["resources/subscribe", "resources/unsubscribe"]
    assert changes == [Change("resource", "x://a"), Change("tools")]


@pytest.mark.parametrize("resources", [{}, {"subscribe": False}, None])
async def test_a_server_that_does_not_tell_is_not_asked(resources: Any) -> None:
    target = Listenable(resources=resources)
    if resources is None:
        del target.capabilities["resources"]
    async with Client(target) as client:
        with pytest.raises(LocalProtocolError, match="scripted does not tell when resources change"):
            await client.subscribe("x://a")
        client.server_info.name = ""
        with pytest.raises(LocalProtocolError, match=r"^The server does not tell when resources change"):
            await client.subscribe("x://a")
    assert target.calls(LISTEN) == []


# Modern.


async def test_list_changes_are_listened_for_as_far_as_the_server_tells_of_them() -> None:
    changes: list[Change] = []
    target = Listenable()
    async with Client(target, on_change=changes.append):
        assert target.filters() == [{"toolsListChanged": True, "resourcesListChanged": True}]
        await target.tell_change("notifications/tools/list_changed")
        await until(lambda: changes)
        assert changes == [Change("tools")]
    assert target.open == {}


async def test_nobody_listens_for_nothing() -> None:
    target = Listenable()
    async with Client(target) as client:
        await client.unsubscribe("x://never")
        assert target.calls(LISTEN) == []
    target = Listenable(tools={}, resources={}, prompts={})
    async with Client(target, on_change=lambda _: None):
        assert target.calls(LISTEN) == []


@pytest.mark.parametrize("kind", [Listenable, ListenableStdio, ListenableHTTP])
async def test_a_new_stream_is_open_before_the_old_one_is_left(kind: type[Listenable]) -> None:
    changes: list[Change] = []
    target = kind()
    target.by_pipe = kind is ListenableStdio
    async with Client(target, on_change=changes.append) as client:
        (first,) = target.open
        await client.subscribe("x://a")
        (second,) = target.open
        assert first != second
        await client.subscribe("x://b")
        await client.subscribe("x://a")
        await target.tell_change("notifications/resources/updated", {"uri": "x://a"})
        await until(lambda: changes)
        assert changes == [Change("resource", "x://a")]
        await client.unsubscribe("x://a")
    uris = [each.get("resourceSubscriptions") for each in target.filters()]
    assert uris == [None, ["x://a"], ["x://a", "x://b"], ["x://b"]]
    assert target.open == {}


async def test_the_last_unsubscription_ends_the_stream() -> None:
    target = Listenable()
    async with Client(target) as client:
        await client.subscribe("x://a")
        assert len(target.open) == 1
        await client.unsubscribe("x://a")
        assert target.open == {}


async def test_a_resource_the_server_does_not_honour() -> None:
    target = Listenable()
    target.honours = {"toolsListChanged": True}
    async with Client(target, on_change=lambda _: None) as client:
        with pytest.raises(LocalProtocolError, match="x://a"):
            await client.subscribe("x://a")


async def test_a_refusal_is_raised_to_who_subscribes_and_logged_otherwise(caplog: pytest.LogCaptureFixture) -> None:
    target = Listenable()

    async def refuse(message: Any, link: Any) -> Any:
        raise MethodNotFound("no")

    target.methods[LISTEN] = refuse
    async with Client(target, on_change=lambda _: None) as client:
        assert "cannot hear of changes: no" in caplog.text
        for _ in range(2):
            with pytest.raises(MethodNotFound):
                await client.subscribe("x://a")
        assert len(target.calls(LISTEN)) == 3


async def test_a_subscription_that_fails_leaves_the_old_stream_open() -> None:
    changes: list[Change] = []
    target = Listenable()
    async with Client(target, on_change=changes.append) as client:
        listen = target.methods[LISTEN]

        async def refuse(message: Any, link: Any) -> Any:
            raise InvalidRequest("no")

        target.methods[LISTEN] = refuse
        with pytest.raises(InvalidRequest):
            await client.subscribe("x://a")
        await target.tell_change("notifications/tools/list_changed")
        await until(lambda: changes)
        target.methods[LISTEN] = listen
        await client.subscribe("x://b")
        assert target.filters()[-1]["resourceSubscriptions"] == ["x://b"]


async def test_closing_while_somebody_subscribes() -> None:
    target = Listenable()
    target.honours = False
    async with Client(target, on_change=None) as client:
        subscribing = asyncio.ensure_future(client.subscribe("x://a"))
        await until(lambda: target.open)
        await client.close()
        with pytest.raises(ConnectionClosed):
            await subscribing
    assert target.open == {}


async def test_the_user_may_subscribe_and_close_from_within_a_callback() -> None:
    done = asyncio.Event()
    target = Listenable()

    async def on_change(change: Change) -> None:
        if change.kind == "tools":
            await client.subscribe("x://a")
            await target.tell_change("notifications/prompts/list_changed")
        else:
            await client.close()
            done.set()

    client = Client(target, on_change=on_change)
    async with client, asyncio.timeout(5):
        await target.tell_change("notifications/tools/list_changed")
        await done.wait()
    assert target.open == {}


# One stream of changes: acknowledged, ended, broken, restored.


async def test_a_server_that_does_not_acknowledge_is_believed_after_a_while() -> None:
    changes: list[Change] = []
    target = Listenable()
    target.honours = False
    async with Client(target, on_change=changes.append) as client:
        await client.subscribe("x://a")
        await target.tell_change("notifications/resources/updated", {"uri": "x://a"})
        await until(lambda: changes)


async def test_acknowledgments_for_others_and_malformed_ones_are_ignored() -> None:
    target = Listenable()
    async with Client(target, on_change=lambda _: None):
        other = {"io.modelcontextprotocol/subscriptionId": "other"}
        malformed: list[Any] = [{"notifications": {}}, {"notifications": {}, "_meta": other}, {"notifications": 5}]
        for params in malformed:
            await target.link.tell_all(ACKNOWLEDGED, params)
        assert len(target.open) == 1


@pytest.mark.parametrize("kind", [Listenable, ListenableStdio, ListenableHTTP])
@pytest.mark.requirement(105, 237)
async def test_a_change_that_belongs_to_no_subscription_is_not_heard(
    kind: type[Listenable], caplog: pytest.LogCaptureFixture
) -> None:
    changes: list[Change] = []
    target = kind()
    async with Client(target, on_change=changes.append):
        (id,) = target.open
        foreign: list[Any] = [{}, {"_meta": {}}, {"_meta": {"io.modelcontextprotocol/subscriptionId": "other"}}]
        for meta in foreign:
            await target.link.tell(id, "notifications/tools/list_changed", meta)
            await target.link.tell_all("notifications/resources/updated", {"uri": "x://a", **meta})
        await target.tell_change("notifications/prompts/list_changed")
        await until(lambda: changes)
    assert changes == [Change("prompts")]
    assert caplog.text.count("belongs to no subscription") == 6


@pytest.mark.requirement(236)
async def test_a_list_that_the_server_declared_and_does_not_honour_is_noticed(caplog: pytest.LogCaptureFixture) -> None:
    target = Listenable()
    target.honours = {"resourcesListChanged": True}
    async with Client(target, on_change=lambda _: None):
        assert "scripted does not tell when its list of tools changes" in caplog.text
        assert "list of resources" not in caplog.text


@pytest.mark.parametrize("end", ["gracefully", "broken"])
async def test_over_http_a_stream_that_ends_is_restored(end: str) -> None:
    target = ListenableHTTP()
    changes: list[Change] = []
    async with Client(target, on_change=changes.append):
        for count in range(2, 5):
            (stream,) = target.open.values()
            if end == "gracefully":
                stream.set_result({"resultType": "complete"})
            else:
                stream.set_exception(ConnectionClosed("reset"))
            await until(lambda: len(target.calls(LISTEN)) == count and target.open)  # noqa: B023 - it is awaited here
        await target.tell_change("notifications/tools/list_changed")
        await until(lambda: changes)
    ids = [message["id"] for message in target.calls(LISTEN)]
    assert len(set(ids)) == 4


async def test_over_http_a_stream_that_the_server_refuses_later_is_not_restored() -> None:
    target = ListenableHTTP()
    async with Client(target, on_change=lambda _: None) as client:
        (stream,) = target.open.values()
        (current,) = client._conversation.subscriptions.open
        stream.set_exception(MethodNotFound("no more"))
        await until(current._task.done)
        assert len(target.calls(LISTEN)) == 1


async def test_on_a_pipe_a_stream_that_ends_is_over() -> None:
    target = ListenableStdio()
    async with Client(target, on_change=lambda _: None) as client:
        (stream,) = target.open.values()
        stream.set_result({"resultType": "complete"})
        await until(lambda: not target.open)
        await client.subscribe("x://a")
        assert len(target.calls(LISTEN)) == 2
