"""Failures of handlers: what they are, and what others may read of them."""

import asyncio
import logging
from typing import Any

import pytest

from splice import Client, Context, Server
from splice.errors import (
    ConnectionClosed,
    InternalError,
    InvalidParams,
    LocalProtocolError,
    MCPError,
    MissingClientCapability,
    ResourceNotFound,
    RPCError,
    ToolError,
)
from splice.protocol.questions import InputRequest
from splice.protocol.versions import FACTS, VERSIONS, Facts
from splice.rules.eras import Suspend
from splice.server.failures import culprit, ends_the_task, failure_of, is_meant, leaves, questions_in, report
from support.caller import LEGACY, MODERN, Caller, text_of
from support.tables import rows


def asked(key: str) -> Suspend:
    return Suspend({key: InputRequest(method="roots/list")})


def group(*errors: BaseException) -> BaseExceptionGroup[BaseException]:
    return BaseExceptionGroup("several", list(errors))


def test_the_leaves_of_a_group_are_found_at_any_depth() -> None:
    one, two, three = ValueError(), KeyError(), asked("a")
    assert list(leaves(group(one, group(two, group(three))))) == [one, two, three]
    assert list(leaves(one)) == [one]


def test_the_one_real_failure_beside_questions_is_the_culprit() -> None:
    error = ValueError()
    assert culprit(group(asked("a"), group(error))) is error
    assert culprit(error) is error
    several = group(error, KeyError(), asked("a"))
    assert culprit(several) is several


def test_questions_count_only_when_nothing_else_went_wrong() -> None:
    questions = questions_in(group(asked("a"), group(asked("b"))))
    assert questions is not None
    assert set(questions) == {"a", "b"}
    assert questions_in(asked("a")) is not None
    assert questions_in(group(asked("a"), ValueError())) is None
    assert questions_in(ValueError()) is None


@pytest.mark.parametrize("error", [KeyboardInterrupt()], ids=repr)
def test_what_ends_the_program_reaches_the_loop(error: BaseException) -> None:
    assert ends_the_task(error)


@pytest.mark.parametrize("error", [SystemExit(1), ValueError(), asked("a")], ids=repr)
def test_accidents_of_a_handler_do_not(error: BaseException) -> None:
    assert not ends_the_task(error)


async def test_our_own_cancellation_reaches_the_loop_and_that_of_a_future_does_not() -> None:
    assert not ends_the_task(asyncio.CancelledError())
    seen: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            seen.append(ends_the_task(error))
            raise

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=5)
    assert seen == [True]


@pytest.mark.parametrize(
    ("policy", "told"),
    [("type", "it failed: ValueError"), ("message", "it failed: ValueError: s3cret"), ("hidden", "it failed")],
)
def test_the_policy_decides_what_is_told_and_the_log_has_all(
    policy: Any, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    text = report("it", ValueError("s3cret"), policy)
    assert text.startswith(f"{told} (reference ")
    reference = text[-9:-1]
    assert reference in caplog.text
    assert "s3cret" in caplog.text


@rows("version", VERSIONS)
@rows("error", [ResourceNotFound("x"), MissingClientCapability("x"), InvalidParams("x")])
def test_an_error_gets_the_code_of_the_version_and_stays_as_it_was_raised(version: str, error: RPCError) -> None:
    facts, before = FACTS[version], error.code
    failure = failure_of(1, error, facts, "x", "type")
    assert failure.error.code == facts.code_of(before)
    assert error.code == before


def test_before_the_version_is_known_an_error_has_its_own_code() -> None:
    assert failure_of(1, ResourceNotFound("x", {"uri": "a"}), None, "x", "type").error.code == -32002


@pytest.mark.parametrize("facts", [None, FACTS[VERSIONS[-1]]])
def test_what_is_not_an_error_of_json_rpc_is_internal(facts: Facts | None) -> None:
    assert failure_of(1, ToolError("told"), facts, "x", "type").error.message == "told"
    failure = failure_of("id", group(asked("a"), ValueError("s3cret")), facts, "x", "type")
    assert failure.error.code == -32603
    assert failure.id == "id"
    assert "s3cret" not in failure.error.message


def test_an_error_class_of_a_users_own_is_told_and_never_enters_a_table() -> None:
    class RateLimited(RPCError, code=-32602):
        def __init__(self, seconds: int) -> None:
            super().__init__(f"wait {seconds} s", {"seconds": seconds})

    error = failure_of(1, RateLimited(3), FACTS[VERSIONS[-1]], "x", "type").error
    assert (error.code, error.message, error.data) == (-32602, "wait 3 s", {"seconds": 3})
    assert type(RPCError.received(-32602, "x")) is InvalidParams


# What nobody meant for the client.

UPSTREAM = "https://upstream.example/mcp?token=s3cret exited with code 7"
NOT_MEANT: list[BaseException] = [
    ConnectionClosed(UPSTREAM),
    LocalProtocolError(UPSTREAM),
    MCPError(UPSTREAM),
    RPCError.received(-32602, UPSTREAM, {"url": UPSTREAM}),
    RPCError.received(-31000, UPSTREAM),
    ValueError(UPSTREAM),
]


@pytest.mark.parametrize("error", NOT_MEANT, ids=repr)
@pytest.mark.parametrize("policy", ["hidden", "type"])
@pytest.mark.parametrize("version", [LEGACY[-1], MODERN[-1]])
async def test_what_happened_upstream_is_hidden_from_clients(
    error: BaseException, policy: Any, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A gateway tool whose upstream dies must not answer with the upstream's stderr, URL or token."""
    server = Server("gateway", errors=policy)

    @server.prompt
    @server.tool
    @server.resource("data://fails")
    async def fails() -> str:
        raise error

    assert not is_meant(error)
    caller = await Caller(server, version).open()
    result = await caller.call("fails")
    named = f": {type(error).__name__}" if policy == "type" else ""
    assert result["isError"]
    assert text_of(result).startswith(f"The tool fails failed{named} (reference ")
    for method, params in (("prompts/get", {"name": "fails"}), ("resources/read", {"uri": "data://fails"})):
        told = await caller.error(method, params)
        assert (told["code"], "data" in told) == (-32603, False)
        assert "s3cret" not in told["message"]
    assert caplog.text.count("s3cret") >= 3


@pytest.mark.parametrize("error", [ToolError("mine"), ResourceNotFound("mine"), RPCError("mine", code=7)], ids=repr)
def test_what_was_raised_on_purpose_is_told_under_every_policy(error: MCPError) -> None:
    assert is_meant(error)
    assert failure_of(1, error, FACTS[VERSIONS[-1]], "x", "hidden").error.message == "mine"


async def test_what_the_client_itself_answered_goes_back_to_it() -> None:
    server = Server("s", errors="hidden")

    @server.tool
    async def ask(ctx: Context) -> str:
        await ctx.roots()
        raise AssertionError

    def refuse(_method: str, _params: Any) -> Any:
        raise RPCError("the user said no", code=-1)

    caller = await Caller(server, LEGACY[-1], answers=refuse).open()
    assert (await caller.error("tools/call", {"name": "ask"}))["message"] == "the user said no"


@pytest.mark.parametrize(("version", "code"), [(LEGACY[-1], -32050), (MODERN[-1], -32603)])
async def test_a_code_that_the_version_reserves_is_replaced_and_the_log_says_so(
    version: str, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s")

    @server.tool
    async def fails() -> str:
        raise RPCError("mine", code=-32050)

    error = await (await Caller(server, version).open()).error("tools/call", {"name": "fails"})
    assert error == {"code": code, "message": "mine"}
    assert ("-32050 is reserved" in caplog.text) == (code != -32050)


# In one process.


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_a_client_in_the_same_process_sees_what_happened(protocol: Any) -> None:
    server = Server("s")
    happened = KeyError("why")

    @server.prompt
    async def fails() -> str:
        raise happened

    async with Client(server, protocol=protocol) as client:
        with pytest.raises(InternalError, match="prompts/get failed: KeyError") as caught:
            await client.get_prompt("fails")
        assert caught.value.__cause__ is happened
        with pytest.raises(InvalidParams) as unknown:
            await client.get_prompt("no_such")
        assert isinstance(unknown.value.__cause__, InvalidParams)
