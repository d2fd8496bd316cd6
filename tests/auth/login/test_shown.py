"""Without `auth=` a login begins where the client said that it can show its user a page, and nowhere else."""

from typing import Any

import pytest

from auth.login.scripted import Browser, scripted
from splice import Client, HTTPRefused, HTTPServer
from splice.auth.errors import AuthorizationFailed
from splice.types import ElicitParams, ElicitResult

VERSIONS = ["2026-07-28", "2025-06-18"]


@pytest.mark.parametrize("protocol", VERSIONS)
async def test_the_function_for_questions_shows_where_to_log_in(protocol: Any) -> None:
    browser = Browser()
    asked: list[ElicitParams] = []

    async def on_elicit(question: ElicitParams) -> str:
        asked.append(question)
        assert question.url is not None
        await browser(question.url)
        return "accept"

    async with scripted() as both:
        async with Client(both.url, on_elicit=on_elicit, can=["elicitation.url"], protocol=protocol) as client:
            await client.ping()
            await client.ping()
        (question,) = asked
        assert question.mode == "url"
        assert both.url in question.message
        assert browser.opened == [question.url]


@pytest.mark.parametrize("protocol", VERSIONS)
@pytest.mark.parametrize("answer", [None, "decline", "cancel", ElicitResult(action="decline")], ids=str)
async def test_a_user_who_does_not_want_to_is_not_asked_again(protocol: Any, answer: Any) -> None:
    asked: list[ElicitParams] = []

    def on_elicit(question: ElicitParams) -> Any:
        asked.append(question)
        return answer

    async with scripted() as both:
        with pytest.raises(AuthorizationFailed, match="did not want to log in to http://127"):
            async with Client(both.url, on_elicit=on_elicit, can=["elicitation.url"], protocol=protocol) as client:
                await client.ping()
    assert len(asked) == 1


@pytest.mark.parametrize("protocol", VERSIONS)
@pytest.mark.parametrize(
    ("can", "headers"), [([], {}), (["elicitation.url"], {"authorization": "Bearer mine"})], ids=["forms", "own token"]
)
async def test_nobody_is_asked_without_a_way_to_show_it_or_with_an_own_token(
    protocol: Any, can: Any, headers: dict[str, str]
) -> None:
    def on_elicit(question: ElicitParams) -> str:
        raise AssertionError(question.message)

    async with scripted() as both:
        target = HTTPServer(both.url, headers=headers)
        with pytest.raises(HTTPRefused, match="401"):
            async with Client(target, on_elicit=on_elicit, can=can, protocol=protocol) as client:
                await client.ping()
