"""Log messages, changes and progress on their way to the user."""

from typing import Any

import pytest

from splice.client.notices import Change, Notices, Reports
from splice.protocol.jsonrpc import Notification, raw
from splice.protocol.methods import Note
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.protocol.wire import NoteParams
from splice.rules.extensions import Extension, Heard


def note(method: str, params: Any = None) -> Notification:
    return Notification(f"notifications/{method}", raw(params or {}))


async def test_log_messages() -> None:
    heard: list[Any] = []
    notices = Notices(lambda params: heard.append((params.level, params.logger, params.data)), None, ())
    await notices.hear(note("message", {"level": "info", "logger": "l", "data": {"a": 1}}))
    assert heard == [("info", "l", {"a": 1})]


CHANGES = [
    ("tools/list_changed", {}, Change("tools")),
    ("prompts/list_changed", {}, Change("prompts")),
    ("resources/list_changed", {}, Change("resources")),
    ("resources/updated", {"uri": "x://a"}, Change("resource", "x://a")),
]


@pytest.mark.parametrize(("method", "params", "change"), CHANGES)
async def test_changes_reach_the_user(method: str, params: Any, change: Change) -> None:
    heard: list[Any] = []

    async def on_change(change: Change) -> None:
        heard.append(change)

    await Notices(None, on_change, ()).hear(note(method, params))
    assert heard == [change]


class TickParams(NoteParams, kw_only=True):
    count: int


TICK = Note(name="notifications/example/tick", params=TickParams, since=LATEST_MODERN)


async def test_an_extension_is_told_of_its_own_notifications_where_they_exist() -> None:
    heard: list[int] = []
    notices = Notices(None, None, [Extension("x", notes=[Heard(TICK, lambda params: heard.append(params.count))])])
    await notices.hear(note("example/tick", {"count": 1}))
    await notices.hear(note("example/tick", {"count": 2}), LATEST_MODERN)
    await notices.hear(note("example/tick", {"count": 3}), LATEST_HANDSHAKE)
    assert heard == [1, 2]


def unheard(change: Change) -> None:
    raise AssertionError(change)


@pytest.mark.parametrize(
    "notification",
    [
        note("message", {"level": "loud", "data": 1}),
        note("message", {"level": "info", "data": 1}),
        note("resources/updated"),
        note("tools/list_changed"),
        note("elicitation/complete", {"elicitationId": "1"}),
        note("unheard/of"),
        Notification("notifications/message"),
    ],
)
async def test_what_nobody_listens_for_and_what_is_malformed_is_dropped(notification: Notification) -> None:
    await Notices(None, None, ()).hear(notification)


async def test_malformed_notifications_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    await Notices(None, unheard, ()).hear(note("resources/updated", {"uri": 5}))
    assert "resources/updated that is malformed" in caplog.text


async def test_a_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("mine")

    await Notices(fail, fail, ()).hear(note("message", {"level": "info", "data": 1}))
    await Notices(fail, fail, ()).hear(note("tools/list_changed"))
    assert caplog.text.count("RuntimeError: mine") == 2


class Rest:
    def __init__(self) -> None:
        self.heard: list[str] = []

    async def __call__(self, notification: Notification) -> None:
        self.heard.append(notification.method)


async def test_progress_only_grows_and_only_under_its_own_token() -> None:
    seen: list[Any] = []
    rest = Rest()
    reports = Reports(7, lambda *report: seen.append(report), rest)
    for params in (
        {"progressToken": 7, "progress": 1},
        {"progressToken": 7, "progress": 1},
        {"progressToken": 7, "progress": 0.5},
        {"progressToken": 8, "progress": 2},
        {"progressToken": "7", "progress": 2},
        {"progressToken": 7},
        {"progressToken": 7, "progress": 2.5, "total": 5, "message": "half"},
    ):
        await reports(note("progress", params))
    await reports(note("message"))
    assert seen == [(1, None, None), (2.5, 5, "half")]
    assert rest.heard == ["notifications/message"]


async def test_a_progress_callback_may_be_async_and_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("mine")

    await Reports(7, fail, Rest())(note("progress", {"progressToken": 7, "progress": 1}))
    assert "RuntimeError: mine" in caplog.text
