"""The everything server: any arguments of any tool, prompt, resource or completion give a result or a clean error.

No answer tells of a failure that was not foreseen, nothing is read that lies outside, and nothing is left running.
"""

import asyncio
import json
import os
from typing import Any

from hypothesis import strategies as st

from fuzz.fuzzing import JSON, TEXT, VALUE, fuzz, tried
from splice import Server
from splice.servers.everything.server import make
from support.caller import Caller

SECRET = os.environ["PATH"]
"""A value of the environment."""

VERSIONS = st.sampled_from(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
TOOLS: dict[str, list[str]] = {
    "echo": ["message"],
    "get-annotated-message": ["messageType", "includeImage"],
    "echo-mirrored-header": ["region"],
    "get-tiny-sound": [],
    "trigger-error": ["kind"],
    "get-env": [],
    "get-resource-links": ["count"],
    "get-resource-reference": ["resourceType", "resourceId"],
    "get-structured-content": ["location"],
    "get-sum": ["a", "b"],
    "get-tiny-image": [],
    "gzip-file-as-resource": ["name", "data", "outputType"],
    "toggle-simulated-logging": [],
    "toggle-subscriber-updates": [],
    "get-roots-list": [],
    "trigger-elicitation-request": [],
    "trigger-url-elicitation": ["url", "message", "elicitationId", "errorPath"],
    "trigger-sampling-request": ["prompt", "maxTokens"],
    "trigger-sampling-with-tools": ["prompt"],
    "trigger-questions-in-rounds": [],
    "trigger-questions-at-once": [],
    "trigger-resource-update": ["resourceType", "resourceId"],
    "trigger-list-changes": [],
    "now-and-then": [],
}
LIKELY: st.SearchStrategy[Any] = st.sampled_from(
    [
        *("error", "Text", "Blob", "Chicago", "resource", "resourceLink", True, 0, 1, 10, 1.5, -1, 2**70, 1e308),
        *("data:,x", "data:;base64,", "data:;base64,%", "data:text/plain," + "%" * 9, "data:", "DATA:;base64,AAAA"),
        *("file:///etc/passwd", "http://127.0.0.1:1/", "http://[::1]:1/", "https://0x7f.1/", "http://localhost:1/%00"),
        *("http://127.0.0.1:1\\@a.example/", "http://2130706433/", "http://①②⑦.0.0.1/", "http://169.254.169.254/"),
        *("javascript:alert(1)", "https://127.0.0.2/", "../../etc/passwd", "a.gz", "..", "\0", "\u202e", "x" * 200),
    ]
)
ANY = LIKELY | VALUE
URIS = st.builds(
    "{}{}".format,
    st.sampled_from(
        [
            *("demo://resource/session/", "demo://resource/static/document/", "demo://resource/dynamic/text/"),
            *("demo://resource/dynamic/blob/", "demo://", "file://", ""),
        ]
    ),
    st.sampled_from(
        [
            "features.md",
            "../server.py",
            "..%2Fserver.py",
            "%2e%2e/server.py",
            "1",
            "-1",
            "0",
            "1e9",
            "\uff19",
            "9" * 30,
            "%ff",
        ]
    )
    | TEXT,
)
REQUESTS = st.one_of(
    st.sampled_from(sorted(TOOLS)).flatmap(
        lambda tool: st.fixed_dictionaries({}, optional=dict.fromkeys([*TOOLS[tool], "other"], ANY)).map(
            lambda arguments: ("tools/call", {"name": tool, "arguments": arguments})
        )
    ),
    st.tuples(
        st.sampled_from([0, 0.001, -1, 601, 1e308, "x", None, []]), st.sampled_from([1, 3, 0, 1001, 1.5, "2", {}])
    ).map(
        lambda given: (
            "tools/call",
            {"name": "trigger-long-running-operation", "arguments": {"duration": given[0], "steps": given[1]}},
        )
    ),
    URIS.map(lambda uri: ("resources/read", {"uri": uri})),
    st.tuples(
        st.sampled_from(["resource-prompt", "args-prompt", "completable-prompt"]), st.dictionaries(TEXT, TEXT)
    ).map(lambda given: ("prompts/get", {"name": given[0], "arguments": given[1]})),
    st.tuples(URIS, TEXT).map(
        lambda given: (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": given[0]}, "argument": {"name": "resourceId", "value": given[1]}},
        )
    ),
    URIS.map(lambda uri: ("resources/subscribe", {"uri": uri})),
)
ANSWERS = st.one_of(
    st.fixed_dictionaries(
        {"action": st.sampled_from(["accept", "decline", "cancel", "?"])}, optional={"content": VALUE}
    ),
    st.just({"roots": [{"uri": "file:///x"}]}),
    st.just({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}}),
    VALUE,
)


servers: list[Server] = []


def served() -> Server:
    """Make a server, and one anew after a few hundred clients: what one of them leaves, the next ones find."""
    if not servers or sum(tried.values()) % 300 == 0:
        servers[:] = [make(pace=3600)]
    return servers[0]


async def converse(version: str, requests: list[tuple[str, JSON]], answer: JSON) -> list[JSON]:
    """Send the requests of one client, each answered in the same way, and leave."""
    before = asyncio.all_tasks()
    caller = await Caller(served(), version, answers=lambda _, __: answer).open()
    try:
        return [await caller.request(method, params) for method, params in requests]
    finally:
        caller.session.end()
        await caller.server.service.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == before


@fuzz(version=VERSIONS, requests=st.lists(REQUESTS, min_size=1, max_size=8), answer=ANSWERS)
def test_any_request_gets_a_result_or_a_clean_error(version: str, requests: list[Any], answer: JSON) -> None:
    for request, message in zip(requests, asyncio.run(converse(version, requests, answer)), strict=True):
        text = json.dumps(message)
        assert ("result" in message) != ("error" in message), request
        assert "(reference " not in text.replace("LookupError (reference ", ""), (request, message)
        assert SECRET not in text, request
        assert "root:" not in text
        assert "def make" not in text
        assert message.get("error", {}).get("code") != -32603, (request, message)
