"""A stdio server that is careless in one way at a time, named on its command line. It imports nothing of ours.

`python sloppy_server.py CASE` answers line by line; `replies` does the same without a process.
"""

import json
import sys
from typing import Any

Case = tuple[str, Any]
"""A method, and the result of it; or its whole response as text."""

TEXT: dict[str, Any] = {"type": "text", "text": "fine"}
INFO = {"name": "sloppy", "version": "1"}
TOOL: dict[str, Any] = {"name": "t", "inputSchema": {"type": "object"}}
OTHER = {"name": "other", "inputSchema": {"type": "object", "properties": {"a": {"default": None}}}}
OPENED: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
}
OPENED["serverInfo"] = INFO
LINK: dict[str, Any] = {"type": "resource_link", "name": "l", "uri": "x://l"}
HELD: dict[str, Any] = {"uri": "x://a", "text": "x"}
MESSAGE = {"role": "user", "content": TEXT}

RESULTS: dict[str, Any] = {
    "initialize": OPENED,
    "ping": {},
    "tools/list": {"tools": [TOOL, OTHER]},
    "tools/call": {"content": [TEXT]},
    "prompts/list": {"prompts": [{"name": "p"}]},
    "prompts/get": {"messages": [MESSAGE]},
    "resources/list": {"resources": [{"name": "r", "uri": "x://r"}]},
    "resources/read": {"contents": [HELD]},
}


def block(**extra: Any) -> Case:
    """Put a second block into the result of a call."""
    return "tools/call", {"content": [TEXT, extra]}


def embedded(**contents: Any) -> Case:
    return block(type="resource", resource={"uri": "x://a", **contents})


def called(**members: Any) -> Case:
    return "tools/call", {"content": [TEXT], **members}


def opened(**members: Any) -> Case:
    return "initialize", {**OPENED, **members}


def capable(**capabilities: Any) -> Case:
    return "initialize", {**OPENED, "capabilities": capabilities}


def without(name: str) -> Case:
    return "initialize", {key: value for key, value in OPENED.items() if key != name}


def tool(**members: Any) -> Case:
    return "tools/list", {"tools": [{**TOOL, **members}, OTHER]}


def tools(**members: Any) -> Case:
    return "tools/list", {"tools": [TOOL], **members}


def prompt(**members: Any) -> Case:
    return "prompts/list", {"prompts": [{"name": "p", **members}]}


def got(**members: Any) -> Case:
    return "prompts/get", {"messages": [MESSAGE], **members}


def resource(**members: Any) -> Case:
    return "resources/list", {"resources": [{"name": "r", "uri": "x://r", **members}, {"name": "r2", "uri": "x://r2"}]}


def contents(**members: Any) -> Case:
    return "resources/read", {"contents": [members]}


def line(method: str, text: str | bytes) -> Case:
    """Write the whole response: ID stands for the id, R for the right result."""
    return method, text


HEAD = '{"jsonrpc":"2.0","id":ID,'
DEEP = "[" * 500 + "]" * 500

CASES: dict[str, Case] = {
    "fine": called(),
    # content blocks
    "c_annot_aud_null": block(**TEXT, annotations={"audience": None}),
    "c_annot_aud_unknown": block(**TEXT, annotations={"audience": ["tool"], "priority": 1}),
    "c_annot_null": block(**TEXT, annotations=None),
    "c_annot_prio_str": block(**TEXT, annotations={"priority": "0.5"}),
    "c_img_nomime": block(type="image", data="AA=="),
    "c_img_extra": block(type="image", data="AA==", mimeType="image/png", extra=1),
    "c_link_noname": block(type="resource_link", uri="x://l"),
    "c_link_size_float": block(**LINK, size=12.0),
    "c_link_size_null": block(**LINK, size=None),
    "c_meta_null": block(**TEXT, _meta=None),
    "c_notype": block(text="x"),
    "c_res_blob_null": embedded(text="x", blob=None),
    "c_res_both": embedded(text="x", blob="AA=="),
    "c_res_neither": embedded(),
    "c_res_null_mime": embedded(text="x", mimeType=None),
    "c_text_null": block(type="text", text=None),
    "c_unknown": block(type="video", data="AA==", _meta={"a": None}),
    # errors in the place of results
    "call_err_codestr": line("tools/call", HEAD + '"error":{"code":"-5","message":"x"}}'),
    "call_err_datanull": line("tools/call", HEAD + '"error":{"code":-5,"message":"x","data":null}}'),
    "call_err_nomsg": line("tools/call", HEAD + '"error":{"code":-5}}'),
    "call_err_resultnull": line("tools/call", HEAD + '"result":null,"error":{"code":-5,"message":"x"}}'),
    "call_err_str": line("tools/call", HEAD + '"error":"went wrong"}'),
    "e_error_null": line("initialize", HEAD + '"result":R,"error":null}'),
    # the opening
    "i_caps_bool": capable(tools=True),
    "i_caps_null": capable(resources=None),
    "i_experimental_bool": capable(experimental={"x": True}),
    "i_icons_sizes_str": opened(serverInfo={**INFO, "icons": [{"src": "x:", "sizes": "48x48"}]}),
    "i_instr_null": opened(instructions=None),
    "i_listchanged_null": capable(tools={"listChanged": None}),
    "i_listchanged_str": capable(tools={"listChanged": "true"}),
    "i_logging_bool": capable(logging=True),
    "i_meta_null": opened(_meta=None),
    "i_nocaps": without("capabilities"),
    "i_noinfo": without("serverInfo"),
    "i_nover": opened(serverInfo={"name": "sloppy"}),
    "i_tasks_bool": capable(tasks={"list": True}),
    "i_title_null": opened(serverInfo={**INFO, "title": None}),
    "i_ver_null": opened(serverInfo={**INFO, "version": None}),
    "i_version_1": opened(protocolVersion="1.0"),
    "i_version_draft": opened(protocolVersion="2024-10-07"),
    "i_version_future": opened(protocolVersion="2027-01-01"),
    # lists
    "l_cache_odd": tools(ttlMs="soon", cacheScope="mine"),
    "l_cursor_int": tools(nextCursor=5),
    "l_cursor_null": tools(nextCursor=None),
    "l_cursor_empty": tools(nextCursor=""),
    "l_dup": ("tools/list", {"tools": [TOOL, TOOL]}),
    "l_meta_null": tools(_meta=None),
    "l_missing": ("tools/list", {}),
    "l_null": ("tools/list", {"tools": None}),
    # the frame of a message
    "m_batch": line("tools/call", '[{"jsonrpc":"2.0","id":ID,"result":R}]'),
    "m_bom": line("tools/call", '\ufeff{"jsonrpc":"2.0","id":ID,"result":R}'),
    "m_extra": line("tools/call", HEAD + '"result":R,"extra":1}'),
    "m_idfloat": line("tools/call", '{"jsonrpc":"2.0","id":ID.0,"result":R}'),
    "m_idstr": line("tools/call", '{"jsonrpc":"2.0","id":"ID","result":R}'),
    "m_jsonrpc_10": line("tools/call", '{"jsonrpc":"1.0","id":ID,"result":R}'),
    "m_latin1": line("tools/call", HEAD.encode() + b'"result":{"content":[{"type":"text","text":"caf\xe9"}]}}'),
    "m_latin1_id_last": line("tools/call", b'{"result":{"content":"caf\xe9"},"id":ID,"jsonrpc":"2.0"}'),
    "m_method_null": line("tools/call", '{"jsonrpc":"2.0","id":ID,"method":null,"result":R}'),
    "m_nojsonrpc": line("tools/call", '{"id":ID,"result":R}'),
    "m_pretty": line("tools/call", '{\n  "jsonrpc": "2.0",\n  "id": ID,\n  "result": R\n}'),
    "m_cut": line("tools/call", HEAD + '"result":{"content":['),
    # prompts
    "pg_content_list": got(messages=[{"role": "user", "content": [TEXT]}]),
    "pg_content_str": got(messages=[{"role": "user", "content": "x"}]),
    "pg_desc_null": got(description=None),
    "pg_role_system": got(messages=[{"role": "system", "content": TEXT}]),
    "ping_null": ("ping", None),
    "pl_arg_req_null": prompt(arguments=[{"name": "a", "required": None}]),
    "pl_args_null": prompt(arguments=None),
    "pl_desc_null": prompt(description=None),
    # results of calls
    "r_bigint": called(structuredContent={"x": 2**70}),
    "r_content_null": called(content=None),
    "r_content_obj": called(content=TEXT),
    "r_content_str": called(content="fine"),
    "r_deep": line("tools/call", HEAD + '"result":{"content":[],"structuredContent":{"x":' + DEEP + "}}}"),
    "r_empty": ("tools/call", {}),
    "r_huge": ("tools/call", {"content": [{"type": "text", "text": "x" * 70_000}]}),
    "r_iserror_null": called(isError=None),
    "r_iserror_str": called(isError="true"),
    "r_meta_null": called(_meta=None),
    "r_nan": line("tools/call", HEAD + '"result":{"content":[],"structuredContent":{"x":[NaN,1.5]}}}'),
    "r_nocontent": ("tools/call", {"structuredContent": {"a": None}}),
    "r_struct_null": called(structuredContent=None),
    "r_surrogate": line("tools/call", HEAD + r'"result":{"content":[{"type":"text","text":"a\ud800b"}]}}'),
    "r_toolresult": ("tools/call", {"toolResult": "fine"}),
    # resources
    "rl_annot_null": resource(annotations=None),
    "rl_desc_null": resource(description=None),
    "rl_noname": ("resources/list", {"resources": [{"uri": "x://r"}, {"name": "r2", "uri": "x://r2"}]}),
    "rl_size_float": resource(size=12.0),
    "rl_size_null": resource(size=None),
    "rl_uri_rel": resource(uri="a/b"),
    "rr_blob_null": contents(**HELD, blob=None),
    "rr_mime_null": contents(**HELD, mimeType=None),
    "rr_neither": contents(uri="x://a"),
    "rr_nouri": contents(text="x"),
    # tools
    "tool_annot_null": tool(annotations=None),
    "tool_annot_title_null": tool(annotations={"title": None}),
    "tool_desc_null": tool(description=None),
    "tool_exec_null": tool(execution=None),
    "tool_exec_unknown": tool(execution={"taskSupport": "maybe"}),
    "tool_hint_null": tool(annotations={"readOnlyHint": None}),
    "tool_hint_str": tool(annotations={"readOnlyHint": "true"}),
    "tool_icon_sizes_str": tool(icons=[{"src": "x:", "sizes": "48x48"}]),
    "tool_icon_theme": tool(icons=[{"src": "x:", "theme": "sepia"}]),
    "tool_icons_null": tool(icons=None),
    "tool_meta_null": tool(_meta=None),
    "tool_no_schema": ("tools/list", {"tools": [{"name": "bad"}, OTHER]}),
    "tool_output_null": tool(outputSchema=None),
    "tool_schema_empty": tool(inputSchema={}),
    "tool_schema_null": ("tools/list", {"tools": [{"name": "bad", "inputSchema": None}, OTHER]}),
    "tool_title_null": tool(title=None),
}


def replies(case: str, text: bytes) -> bytes:
    """Answer one line, with bytes; a notification with none."""
    message = json.loads(text)
    if "id" not in message or "method" not in message:
        return b""
    id, method = json.dumps(message["id"]), message["method"]
    right = RESULTS.get(method)
    if right is None:
        return b'{"jsonrpc":"2.0","id":%b,"error":{"code":-32601,"message":"Method not found"}}\n' % id.encode()
    careless, how = CASES[case]
    if careless != method:
        how = right
    if not isinstance(how, (str, bytes)):
        right, how = how, HEAD + '"result":R}'
    whole = how if isinstance(how, bytes) else how.encode()
    return whole.replace(b"ID", id.encode()).replace(b":R", b":" + json.dumps(right).encode()) + b"\n"


if __name__ == "__main__":
    for received in sys.stdin.buffer:
        sys.stdout.buffer.write(replies(sys.argv[1], received))
        sys.stdout.buffer.flush()
