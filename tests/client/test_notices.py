"""Log messages, changes and progress on their way to the user."""

from typing import Any

import pytest

from splice.client.notices import Change, Notices, Reports
from splice.protocol.jsonrpc import Notification, raw


def note(method: str, params: Any = None) -> Notification:
    return Notification(f"notifications/{method}", raw(params or {}))


def ignore(_: Change) -> None: ...


async def test_log_messages() -> None:
    heard: list[Any] = []
    notices = Notices(lambda params: heard.append((params.level, params.logger, params.data)), None, ignore)
    await notices.hear(note("message", {"level": "info", "logger": "l", "data": {"a": 1}}))
    assert heard == [("info", "l", {"a": 1})]


CHANGES = [
    ("tools/list_changed", {}, Change("tools")),
    ("prompts/list_changed", {}, Change("prompts")),
    ("resources/list_changed", {}, Change("resources")),
    ("resources/updated", {"uri": "x://a"}, Change("resource", "x://a")),
]


@pytest.mark.parametrize(("method", "params", "change"), CHANGES)
async def test_changes_reach_the_client_first_and_then_the_user(method: str, params: Any, change: Change) -> None:
    heard: list[Any] = []

    async def on_change(change: Change) -> None:
        heard.append(("user", change))

    await Notices(None, on_change, lambda change: heard.append(("client", change))).hear(note(method, params))
    assert heard == [("client", change), ("user", change)]


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
    await Notices(None, None, ignore).hear(notification)


async def test_malformed_notifications_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    await Notices(None, None, ignore).hear(note("resources/updated", {"uri": 5}))
    assert "resources/updated that is malformed" in caplog.text


async def test_a_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("mine")

    await Notices(fail, fail, ignore).hear(note("message", {"level": "info", "data": 1}))
    await Notices(fail, fail, ignore).hear(note("tools/list_changed"))
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
