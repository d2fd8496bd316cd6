"""Servers that are careless: what is clear enough is taken, everything else ends its call at once and says what came.

Each case stands in `support.sloppy_server`; here stands what becomes of it.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from splice import Client, RemoteProtocolError, RPCError
from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import BadMessage, Notification, Response
from splice.protocol.lenient import Remarks
from splice.transports.base import Link, Outgoing, Receiver, Sender
from splice.transports.channel import ChannelExchange, Send
from splice.transports.lines import LineChannel
from support import sloppy_server
from support.tables import rows
from support.wire import JSON

AT_ONCE_SECONDS = 2.0

Use = Callable[[Client], Coroutine[Any, Any, Any]]


class Skipping(LineChannel):
    def refuse(self, bad: BadMessage, send: Send) -> None:
        pass


class SloppyLink(Link):
    """The client's end of a pipe, and at the other end the careless server, without a process."""

    def __init__(self, case: str, receiver: Receiver) -> None:
        def answer(exchange: ChannelExchange) -> Coroutine[Any, Any, Response]:
            return receiver.answer(exchange.request)

        self.case = case
        self.channel = Skipping(self._write, answer, receiver.hear, Sender(kind="stdio"))
        self.channel.remark = Remarks(logging.getLogger("splice.client"))

    def _write(self, data: bytes) -> None:
        for line in data.splitlines():
            asyncio.get_running_loop().call_soon(self.channel.feed, sloppy_server.replies(self.case, line))

    async def exchange(self, outgoing: Outgoing) -> Response:
        return await self.channel.request(outgoing)

    async def notify(self, note: Notification) -> None:
        await self.channel.notify(note)

    async def close(self) -> None:
        await self.channel.lost(ConnectionClosed("closed"))


class Sloppy:
    kind = "stdio"
    name = "sloppy"

    def __init__(self, case: str) -> None:
        self.case = case

    async def connect(self, receiver: Receiver) -> Link:
        return SloppyLink(self.case, receiver)


async def server(client: Client) -> Any:
    return {"server": client.server_info, "capabilities": client.capabilities}


USES: dict[str, Use] = {
    "initialize": server,
    "ping": lambda client: client.ping(),
    "tools/list": lambda client: client.list_tools(),
    "tools/call": lambda client: client.call_tool("t"),
    "prompts/list": lambda client: client.list_prompts(),
    "prompts/get": lambda client: client.get_prompt("p"),
    "resources/list": lambda client: client.list_resources(),
    "resources/read": lambda client: client.read_resource("x://a"),
}

FINE = [{"type": "text", "text": "fine"}]
ONLY_OTHER: JSON = [sloppy_server.OTHER]
R2 = {"name": "r2", "uri": "x://r2"}
LINK = {"type": "resource_link", "name": "l", "uri": "x://l"}
EMBEDDED = {"type": "resource", "resource": {"uri": "x://a", "text": "x"}}
OPENED: JSON = {
    "server": {"name": "sloppy", "version": "1"},
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
}


def content(*blocks: JSON) -> JSON:
    return {"content": [*FINE, *blocks]}


def listed(**members: JSON) -> JSON:
    return [{**sloppy_server.TOOL, **members}, sloppy_server.OTHER]


TAKEN: dict[str, tuple[JSON, str]] = {
    "c_annot_aud_null": (content({**FINE[0], "annotations": {}}), ""),
    "c_annot_aud_unknown": (content({**FINE[0], "annotations": {"priority": 1.0}}), "'tool'.*left out"),
    "c_annot_null": (content(FINE[0]), ""),
    "c_annot_prio_str": (content({**FINE[0], "annotations": {"priority": 0.5}}), "priority.*read as 0.5"),
    "c_img_extra": (content({"type": "image", "data": "AA==", "mimeType": "image/png"}), ""),
    "c_link_size_float": (content({**LINK, "size": 12}), "size.*read as 12"),
    "c_link_size_null": (content(LINK), ""),
    "c_meta_null": (content(FINE[0]), ""),
    "c_res_blob_null": (content(EMBEDDED), ""),
    "c_res_both": (content(EMBEDDED), "read as text"),
    "c_res_null_mime": (content(EMBEDDED), ""),
    "c_unknown": (content({"type": "video", "data": "AA==", "_meta": {"a": None}}), "unknown type 'video'"),
    "e_error_null": (OPENED, ""),
    "i_caps_null": ({**OPENED, "capabilities": {}}, ""),
    "i_experimental_bool": ({**OPENED, "capabilities": {"experimental": {"x": True}}}, ""),
    "i_icons_sizes_str": ({**OPENED, "server": {"name": "sloppy", "version": "1", "icons": [{"src": "x:"}]}}, "sizes"),
    "i_instr_null": (OPENED, ""),
    "i_listchanged_null": ({**OPENED, "capabilities": {"tools": {}}}, ""),
    "i_listchanged_str": ({**OPENED, "capabilities": {"tools": {"listChanged": True}}}, "listChanged.*read as True"),
    "i_meta_null": (OPENED, ""),
    "i_nocaps": ({**OPENED, "capabilities": {}}, "`capabilities` - at .*: read as"),
    "i_noinfo": ({**OPENED, "server": {"name": "", "version": ""}}, "`serverInfo` - at .*: read as"),
    "i_nover": ({**OPENED, "server": {"name": "sloppy", "version": ""}}, "`version` - at .*: read as"),
    "i_title_null": (OPENED, ""),
    "i_ver_null": ({**OPENED, "server": {"name": "sloppy", "version": ""}}, "`version` - at .*: read as"),
    "fine": (content(), ""),
    "l_cache_odd": ([sloppy_server.TOOL], "ttlMs.*left out.*cacheScope.*left out"),
    "l_cursor_empty": ([sloppy_server.TOOL], ""),
    "l_cursor_null": ([sloppy_server.TOOL], ""),
    "l_dup": ([sloppy_server.TOOL] * 2, ""),
    "l_meta_null": ([sloppy_server.TOOL], ""),
    "m_bom": (content(), "not quite JSON"),
    "m_extra": (content(), ""),
    "m_idfloat": (content(), ""),
    "m_idstr": (content(), ""),
    "m_method_null": (content(), ""),
    "pg_desc_null": ({"messages": [sloppy_server.MESSAGE]}, ""),
    "pl_arg_req_null": ([{"name": "p", "arguments": [{"name": "a"}]}], ""),
    "pl_args_null": ([{"name": "p"}], ""),
    "pl_desc_null": ([{"name": "p"}], ""),
    "r_bigint": ({**content(), "structuredContent": {"x": 2**70}}, ""),
    "r_content_null": ({"content": []}, "`content` - at .*: read as"),
    "r_empty": ({"content": []}, "`content` - at .*: read as"),
    "r_huge": ({"content": [{"type": "text", "text": "x" * 70_000}]}, ""),
    "r_iserror_null": (content(), ""),
    "r_iserror_str": ({**content(), "isError": True}, "isError.*read as True"),
    "r_meta_null": (content(), ""),
    "r_nan": ({"content": [], "structuredContent": {"x": [None, 1.5]}}, "not quite JSON"),
    "r_nocontent": ({"content": [], "structuredContent": {"a": None}}, "`content` - at .*: read as"),
    "r_struct_null": (content(), ""),
    "r_surrogate": ({"content": [{"type": "text", "text": "a\ufffdb"}]}, "not quite JSON"),
    "r_toolresult": ({"content": []}, "`content` - at .*: read as"),
    "rl_annot_null": ([{"name": "r", "uri": "x://r"}, R2], ""),
    "rl_desc_null": ([{"name": "r", "uri": "x://r"}, R2], ""),
    "rl_noname": ([R2], r"`name` - at `\$.resources\[0\]`: left out, beginning '{\"uri\": \"x://r\"}'"),
    "rl_size_float": ([{"name": "r", "uri": "x://r", "size": 12}, R2], "size.*read as 12"),
    "rl_size_null": ([{"name": "r", "uri": "x://r"}, R2], ""),
    "rl_uri_rel": ([{"name": "r", "uri": "a/b"}, R2], ""),
    "rr_blob_null": ({"contents": [sloppy_server.HELD]}, ""),
    "rr_mime_null": ({"contents": [sloppy_server.HELD]}, ""),
    "tool_annot_null": (listed(), ""),
    "tool_annot_title_null": (listed(annotations={}), ""),
    "tool_desc_null": (listed(), ""),
    "tool_exec_null": (listed(), ""),
    "tool_exec_unknown": (listed(execution={}), "'maybe'.*left out"),
    "tool_hint_null": (listed(annotations={}), ""),
    "tool_hint_str": (listed(annotations={"readOnlyHint": True}), "readOnlyHint.*read as True"),
    "tool_icon_sizes_str": (listed(icons=[{"src": "x:"}]), "sizes.*left out"),
    "tool_icon_theme": (listed(icons=[{"src": "x:"}]), "'sepia'.*left out"),
    "tool_icons_null": (listed(), ""),
    "tool_meta_null": (listed(), ""),
    "tool_no_schema": (ONLY_OTHER, 'left out, beginning \'{"name": "bad"}\''),
    "tool_output_null": (listed(), ""),
    "tool_schema_empty": (listed(inputSchema={}), ""),
    "tool_schema_null": (ONLY_OTHER, "left out"),
    "tool_title_null": (listed(), ""),
}
"""What a careless server is understood to say, and what is logged about it: nothing where that is all the same."""

REFUSED: dict[str, str] = {
    "c_img_nomime": r"`mimeType` - at `\$.content\[1\]`",
    "c_link_noname": r"`name` - at `\$.content\[1\]`",
    "c_notype": r"got `null` - at `\$.content\[1\].type`",
    "c_res_neither": r"exactly one of .* - at `\$.content\[1\].resource`",
    "c_text_null": r"got `null` - at `\$.content\[1\].text`",
    "call_err_codestr": r"tools/call is not a message: .*`\$.error.code`.*It begins '{\"jsonrpc\"",
    "call_err_nomsg": r"tools/call is not a message: .*`message` - at `\$.error`",
    "call_err_str": "tools/call is not a message: .*went wrong",
    "i_caps_bool": r"got `bool` - at `\$.capabilities.tools`",
    "i_logging_bool": r"got `bool` - at `\$.capabilities.logging`",
    "i_tasks_bool": r"got `bool` - at `\$.capabilities.tasks.list`",
    "i_version_1": "protocol version '1.0'",
    "i_version_draft": "protocol version '2024-10-07'",
    "i_version_future": "protocol version '2027-01-01'",
    "l_cursor_int": r"got `int` - at `\$.nextCursor`",
    "l_missing": "missing required field `tools`",
    "l_null": r"got `null` - at `\$.tools`",
    "m_batch": "not a message: .*no batches",
    "m_cut": "not a message: Parse error",
    "m_jsonrpc_10": r"not a message: .*jsonrpc",
    "m_latin1": "not a message: .*not UTF-8 at byte .*caf",
    "m_latin1_id_last": "not a message: .*not UTF-8",
    "m_nojsonrpc": "not a message: .*`jsonrpc`",
    "pg_content_list": r"got `array` - at `\$.messages\[0\].content`",
    "pg_content_str": r"got `str` - at `\$.messages\[0\].content`",
    "pg_role_system": r"'system' - at `\$.messages\[0\].role`",
    "ping_null": "Expected `object`, got `null`",
    "r_content_obj": r"got `object` - at `\$.content`",
    "r_content_str": r"got `str` - at `\$.content`",
    "r_deep": "not a message: .*nested deeper than 128 levels",
    "rr_neither": r"exactly one of .* - at `\$.contents\[0\]`",
    "rr_nouri": r"`uri` - at `\$.contents\[0\]`",
}
"""What even a second reading cannot use, and the error that the call ends with."""


def test_every_case_has_its_verdict() -> None:
    others = {"m_pretty", "call_err_datanull", "call_err_resultnull"}
    assert sloppy_server.CASES.keys() == TAKEN.keys() | REFUSED.keys() | others


async def use(case: str, target: Any = None) -> Any:
    method, _ = sloppy_server.CASES[case]
    async with asyncio.timeout(AT_ONCE_SECONDS), Client(target or Sloppy(case), protocol="legacy") as client:
        return msgspec.to_builtins(await USES[method](client))


@pytest.mark.parametrize("case", TAKEN)
async def test_what_is_clear_is_taken(case: str, caplog: pytest.LogCaptureFixture) -> None:
    expected, warning = TAKEN[case]
    assert await use(case) == expected
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(said) == (0 if not warning else warning.count("left out") or 1), said
    assert re.search(warning, "".join(said))


@rows("case", REFUSED)
async def test_what_is_not_ends_its_call_at_once(case: str) -> None:
    with pytest.raises(RemoteProtocolError, match=REFUSED[case]):
        await use(case)


@pytest.mark.parametrize("case", ["call_err_datanull", "call_err_resultnull"])
async def test_an_error_is_an_error_whatever_stands_beside_it(case: str) -> None:
    with pytest.raises(RPCError, match=r"^x$"):
        await use(case)
