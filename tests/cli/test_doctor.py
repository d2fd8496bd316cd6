"""`splice doctor`: each rung, where the ladder breaks, and what is said then."""

import asyncio
import json
import os
import ssl
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from cli import odd_server
from cli.conftest import SERVER, Done, Splice, splice_process
from cli.odd_server import OPENED, TOOL, case
from splice.cli.commands import COMMANDS
from splice.cli.doctor_rungs import MAX_DETAILS
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.types import VERSIONS
from support import limited_server
from support.listening import listening
from transports.certificates import make_certificates
from transports.raw_http import Visit, raw_server

ODD = str(Path(odd_server.__file__))
ESCAPE = "\x1b"
PAGE = b"<html><title>Welcome \x1b[31m</title></html>"

Answer = Callable[[Visit], Coroutine[Any, Any, None]]


def rungs(done: Done) -> dict[str, dict[str, Any]]:
    return {rung["name"]: rung for rung in done.json["rungs"]}


def statuses(done: Done) -> dict[str, str]:
    return {name: rung["status"] for name, rung in rungs(done).items()}


def broken(done: Done) -> dict[str, Any]:
    """Return the only broken rung, behind which nothing was looked at."""
    assert (done.code, done.json["ok"], done.err) == (FAILED, False, "")
    *before, last = done.json["rungs"]
    assert last["status"] == "broken"
    assert all(rung["status"] != "broken" for rung in before)
    assert last["advice"]
    return dict(last)


@pytest.fixture
def odd(splice: Splice) -> Callable[..., Done]:
    """Examine the scripted server."""

    def examine(*options: str, **script: Any) -> Done:
        return splice("doctor", "--json", *options, "--", sys.executable, ODD, case(**script))

    return examine


async def examined(splice: Splice, url: str, *options: str) -> Done:
    return await asyncio.to_thread(splice, "doctor", "--json", url, *options)


def always(status: int, body: bytes = b"", **headers: str) -> Answer:
    async def answer(visit: Visit) -> None:
        await visit.reply(status, body, **headers)

    return answer


# Servers that work.


def test_a_good_server_has_all_its_rungs(splice: Splice) -> None:
    done = splice("doctor", SERVER)
    assert (done.code, done.err) == (OK, "")
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith(("ok", "warning"))] == [
        *("program", "start", "opening", "version", "server", "capabilities"),
        *("tools", "schemas", "resources", "templates", "prompts", "ping", "close"),
    ]
    assert "modern: it answered server/discover" in done.out
    assert "the server ended by itself" in done.out
    assert done.out.endswith("\nAll is well.\n")
    assert ESCAPE not in done.out


def test_a_good_url(splice: Splice, url: str) -> None:
    done = splice("doctor", url, "--json", "--header", "X-A: b")
    assert (done.code, done.json["ok"], done.json["target"]) == (OK, True, url)
    assert list(rungs(done))[:6] == ["target", "resolve", "TCP", "HTTP", "opening", "version"]
    assert rungs(done)["HTTP"]["text"] == "status 200, application/json: an MCP endpoint"
    assert set(statuses(done).values()) == {"ok"}
    assert all(rung["advice"] is None for rung in done.json["rungs"])


def test_a_good_url_of_a_chosen_version(splice: Splice, url: str) -> None:
    done = splice("doctor", url, "--json", "--protocol", "2025-06-18")
    assert rungs(done)["opening"]["text"] == "legacy: opened by initialize, without asking"
    assert rungs(done)["version"]["text"] == "2025-06-18"


def test_an_older_server_says_why_it_was_opened_so(odd: Callable[..., Done]) -> None:
    done = odd()
    assert (done.code, set(statuses(done).values())) == (OK, {"ok"})
    why = "legacy: opened by initialize, since to server/discover the server answered error -32601"
    assert rungs(done)["opening"]["text"] == why
    assert rungs(done)["tools"]["text"] == "1 tool on 1 page"
    assert rungs(done)["server"]["text"] == "odd \x1b[31m 1"


@pytest.mark.parametrize("columns", ["80", "100"])
def test_no_line_is_wider_than_the_terminal(splice: Splice, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    done = splice("doctor", "--", sys.executable, ODD, case(say="x" * 300 + "\n"))
    assert max(map(len, done.out.splitlines())) <= int(columns)


def test_it_is_among_the_commands_and_takes_one_server(splice: Splice) -> None:
    assert "doctor" in COMMANDS
    assert "  doctor " in splice("--help").out
    assert splice("doctor", SERVER, "tools").code == USAGE
    assert splice("doctor").code == USAGE


# Programs.


def test_no_such_program(splice: Splice, tmp_path: Path) -> None:
    last = broken(splice("doctor", "--json", "--", "no-such-program"))
    assert (last["name"], last["text"]) == ("program", "there is no program 'no-such-program'")
    script = tmp_path / "server.sh"
    script.write_text("#!/bin/sh\n")
    assert "may not be run" in broken(splice("doctor", "--json", "--", str(script)))["text"]


def test_a_program_that_ends_is_quoted(splice: Splice) -> None:
    done = splice("doctor", "--json", "--", sys.executable, "-c", "import sys; sys.exit('no \x1b[31mluck')")
    last = broken(done)
    assert last["name"] == "opening"
    assert last["text"].startswith("exited with code 1")
    assert last["details"] == ["no \\x1b[31mluck"]
    assert "to see why" in last["advice"]
    shown = splice("doctor", "--", sys.executable, "-c", "import sys; sys.exit('no \x1b[31mluck')")
    assert "no \\x1b[31mluck" in shown.out
    assert shown.out.endswith("\nIt breaks at: opening.\n")
    assert ESCAPE not in shown.out


def test_a_program_that_is_silent(splice: Splice) -> None:
    words = [sys.executable, "-c", "import sys; print('waiting', file=sys.stderr, flush=True); sys.stdin.read()"]
    last = broken(splice("doctor", "--json", "--timeout", "2", "--", *words))
    assert last["name"] == "opening"
    assert "did not answer within 2 s" in last["text"]
    assert last["details"][:2] == ["the last it wrote to stderr:", "waiting"]
    assert "Is an argument missing?" in last["advice"]


def test_a_program_that_writes_junk(odd: Callable[..., Done]) -> None:
    done = odd(say="Welcome \x1b[2J!\n")
    assert (done.code, done.err) == (OK, "")
    assert statuses(done)["stdout"] == "warning"
    assert "let it print to stderr" in rungs(done)["stdout"]["advice"]
    assert "'Welcome \\x1b[2J!'" in rungs(done)["stdout"]["details"][0]


def test_a_program_that_refuses(odd: Callable[..., Done]) -> None:
    last = broken(odd(initialize={"code": -32603, "message": "not \x1b[31mtoday"}))
    assert last["name"] == "opening"
    assert "not \\x1b[31mtoday" in last["text"]
    assert "do not agree" in last["advice"]


def test_a_program_that_stays_after_its_stdin_was_closed(odd: Callable[..., Done]) -> None:
    done = odd(stays=True)
    assert (done.code, statuses(done)["close"]) == (OK, "warning")
    assert "SIGTERM" in rungs(done)["close"]["details"][0]


def test_a_server_that_declares_nothing(odd: Callable[..., Done]) -> None:
    done = odd(initialize={**OPENED, "capabilities": {}})
    assert (done.code, statuses(done)["capabilities"]) == (OK, "warning")
    assert "tools" not in statuses(done)


def test_a_program_that_writes_junk_and_ends(splice: Splice) -> None:
    done = splice("doctor", "--json", "--", sys.executable, "-c", "print('Hello')")
    assert broken(done)["name"] == "opening"
    assert statuses(done)["stdout"] == "warning"


# Lists and schemas.


def test_a_list_that_breaks_stops_no_other(odd: Callable[..., Done]) -> None:
    opened = {**OPENED, "capabilities": {"tools": {}, "prompts": {}, "resources": {}}}
    done = odd(
        initialize=opened,
        tools_list={"code": -32603, "message": "Oh \x1b[31m"},
        prompts_list={"prompts": [{"name": "p"}, {"name": "p"}]},
        resources_list={"resources": [{"name": "r", "uri": "no uri"}]},
    )
    assert done.code == FAILED
    found = rungs(done)
    assert (found["tools"]["status"], found["tools"]["text"]) == ("broken", "Oh \\x1b[31m (code -32603)")
    assert found["prompts"]["details"] == ["p is listed twice: only one of them can be reached"]
    assert found["resources"]["details"] == ["no uri is no absolute URI: some clients refuse it"]
    assert found["templates"]["text"] == "none: the server has no resources/templates/list, and need not"
    assert "schemas" not in found
    assert found["close"]["status"] == "ok"


def test_a_list_that_is_declared_and_not_served(odd: Callable[..., Done]) -> None:
    done = odd(tools_list={"code": -32601, "message": "no"})
    assert done.code == FAILED
    assert "there is no method tools/list" in rungs(done)["tools"]["text"]


def test_a_list_that_is_not_answered(odd: Callable[..., Done]) -> None:
    done = odd("--timeout", "2", tools_list=None)
    assert done.code == FAILED
    assert "--timeout allows more" in rungs(done)["tools"]["text"]


def test_a_list_that_cannot_be_read(odd: Callable[..., Done]) -> None:
    assert statuses(odd(tools_list={"tools": 5}))["tools"] == "broken"


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"inputSchema": {"type": "object", "properties": 5}}, "t: its input schema: invalid JSON Schema"),
        ({"inputSchema": {"type": "object", "properties": "x" * 5_000}}, "t: its input schema: invalid JSON Schema"),
        ({"inputSchema": {"type": "string"}}, 't: its input schema must say "type": "object"'),
        ({"inputSchema": {"type": "object", "$schema": "http://x/draft-04"}}, "unsupported JSON Schema dialect"),
        ({"outputSchema": {"$ref": "http://x/"}}, "t: its output schema: the schema refers to http://x/"),
    ],
)
def test_a_schema_that_cannot_be_used(odd: Callable[..., Done], tool: dict[str, Any], why: str) -> None:
    done = odd(tools_list={"tools": [{**TOOL, **tool}, {**TOOL, "name": "u"}]})
    assert done.code == FAILED
    found = rungs(done)["schemas"]
    assert (found["status"], found["text"]) == ("broken", "1 of 2 tools cannot be used")
    assert why in found["details"][0]
    assert all(len(each) < 500 for each in found["details"])
    assert statuses(done)["ping"] == "ok"


def test_a_schema_over_budget_and_a_name_that_hosts_refuse_are_warnings(odd: Callable[..., Done]) -> None:
    twice = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    costly = {"type": "object", "$ref": "#/$defs/d0", "$defs": {**twice, "d30": {}}}
    done = odd(tools_list={"tools": [{**TOOL, "inputSchema": costly}, {**TOOL, "name": "a.b"}]})
    assert (done.code, statuses(done)["schemas"]) == (OK, "warning")
    first, second = rungs(done)["schemas"]["details"]
    assert first.startswith("t: its input schema is not held against values: the schema's references and choices")
    assert second.startswith("a.b: some hosts refuse this name")


def test_a_hostile_list_floods_nobody(splice: Splice) -> None:
    tools = [{**TOOL, "name": "\x1b[2J" * 50 + str(number)} for number in range(100)]
    done = splice("doctor", "--", sys.executable, ODD, case(tools_list={"tools": tools}))
    assert done.code == OK
    assert f"and {100 - MAX_DETAILS} more" in done.out
    assert ESCAPE not in done.out
    assert len(done.out) < 40_000


# URLs.


def test_a_port_where_nothing_listens(splice: Splice) -> None:
    last = broken(splice("doctor", "--json", "http://127.0.0.1:9/mcp"))
    assert (last["name"], last["text"]) == ("TCP", "nothing listens at 127.0.0.1:9")


def test_a_name_that_does_not_resolve(splice: Splice) -> None:
    last = broken(splice("doctor", "--json", "https://no-such-host.invalid/mcp"))
    assert last["name"] == "resolve"
    assert "no address is known for 'no-such-host.invalid'" in last["text"]


def test_a_url_that_is_none(splice: Splice) -> None:
    assert broken(splice("doctor", "--json", "http://"))["name"] == "target"


@pytest.mark.parametrize(
    ("answer", "text", "advice"),
    [
        (always(200, PAGE, content_type="text/html"), "status 200, text/html: this is no MCP endpoint", "/mcp"),
        (always(404, PAGE), "status 404, no content type: this is no MCP endpoint", "/mcp"),
        (always(401, www_authenticate="Bearer realm=x"), "status 401, no content type: it wants to know", "--header"),
        (always(403), "status 403, no content type: it does not let you in", "Origin"),
        (always(501, PAGE, content_type="text/html"), "status 501, text/html: this is no MCP endpoint", "/mcp"),
        (always(503, b"{}"), "status 503, no content type: it is not available", "wait"),
        (always(307, location="http://other.invalid/mcp"), "redirects to 'http://other.invalid/mcp'", "trust"),
        (always(302, location="/mcp/"), "only 307 and 308 within the same origin are", "trust"),
    ],
    ids=["page", "404", "401", "403", "501", "503", "elsewhere", "302"],
)
async def test_a_url_that_is_no_endpoint(splice: Splice, answer: Answer, text: str, advice: str) -> None:
    async with raw_server(answer) as server:
        last = broken(await examined(splice, server.url))
    assert last["name"] == "HTTP"
    assert text in last["text"]
    assert advice in last["advice"]


async def test_another_path_of_a_server_of_ours(splice: Splice, url: str) -> None:
    last = broken(await examined(splice, url.removesuffix("/mcp") + "/health"))
    assert last["name"] == "HTTP"
    assert "There is nothing here; the MCP endpoint is /mcp" in last["text"]
    assert last["advice"] == "name the path of the MCP endpoint in the URL"


async def test_what_a_refusal_says_is_told(splice: Splice) -> None:
    async with raw_server(always(401, www_authenticate="Bearer realm=x")) as server:
        assert broken(await examined(splice, server.url))["details"] == ["it says: Bearer realm=x"]
    message = "Host header 'x' not\x1b[31m allowed"
    for status, code in ((403, -32600), (401, 401), (403, 403)):
        said = {"jsonrpc": "2.0", "error": {"code": code, "message": message}}
        async with raw_server(always(status, json.dumps(said).encode(), content_type="application/json")) as server:
            done = await examined(splice, server.url)
        assert broken(done)["details"] == [f"it says: {message}"]
        assert ESCAPE not in done.out
    async with raw_server(always(404, PAGE)) as server:
        shown = await asyncio.to_thread(splice, "doctor", server.url)
    assert "Welcome \\x1b[31m" in " ".join(shown.out.split())
    assert ESCAPE not in shown.out


async def answers(visit: Visit) -> None:
    """Answer as a server of 2025-06-18 does."""
    if visit.method != "POST":
        await visit.reply(405)
    elif "id" not in visit.message:
        await visit.reply(202)
    else:
        found: dict[str, Any] = {"initialize": OPENED, "ping": {}, "tools/list": {"tools": [TOOL]}}
        method = visit.message["method"]
        await (visit.result(found[method]) if method in found else visit.error(-32601, 404))


async def test_a_redirect_and_a_gateway_are_told(splice: Splice) -> None:
    async def answer(visit: Visit) -> None:
        if visit.path == "/mcp":
            await visit.reply(307, location="/mcp/", via="1.1 gate")
        else:
            await answers(visit)

    async with raw_server(answer) as server:
        done = await examined(splice, server.url)
    assert done.code == OK
    assert rungs(done)["HTTP"]["details"] == ["307, redirected to /mcp/"]

    async with raw_server(lambda visit: visit.json({"jsonrpc": "2.0"}, via="1.1 gate")) as server:
        found = rungs(await examined(splice, server.url))
    assert found["HTTP"]["details"][0].startswith("a proxy or gateway stands between (via: 1.1 gate)")
    assert found["opening"]["status"] == "broken"


@pytest.mark.parametrize("status", [400, 500])
async def test_a_server_that_fails_at_what_it_does_not_know_may_work_all_the_same(splice: Splice, status: int) -> None:
    async def answer(visit: Visit) -> None:
        if visit.method == "POST" and visit.message["method"] == "server/discover":
            await visit.reply(status, b"oops" if status == 400 else PAGE, content_type="text/plain")
        else:
            await answers(visit)

    async with raw_server(answer) as server:
        done = await examined(splice, server.url)
    assert (done.code, statuses(done)["HTTP"], statuses(done)["tools"]) == (OK, "warning", "ok")
    assert f"the server answered HTTP {status}" in rungs(done)["opening"]["text"]


@pytest.mark.parametrize("status", [400, 404, 405])
async def test_the_transport_of_the_first_revision_is_named(splice: Splice, status: int) -> None:
    async def answer(visit: Visit) -> None:
        if visit.method == "POST":
            await visit.reply(status, b"Not here", content_type="text/plain")
        else:
            await visit.begin_stream()
            await visit.event({"endpoint": "/messages"})

    async with raw_server(answer) as server:
        found = rungs(await examined(splice, server.url, "--timeout", "5"))
    assert (found["HTTP"]["status"], found["HTTP"]["advice"]) == ("ok", None)
    assert found["HTTP"]["text"] == (
        f"status {status}, but a GET opens a stream: HTTP+SSE, the transport of the first revision"
    )


@pytest.mark.parametrize("protocol", ["auto", "2024-11-05"])
async def test_a_server_on_the_transport_of_the_first_revision_is_well(splice: Splice, protocol: str) -> None:
    async with listening(limited_server.build(VERSIONS[:1]).http_app(sse=True)) as url:
        done = await examined(splice, url.replace("/mcp", "/sse"), "--protocol", protocol)
    assert (done.code, set(statuses(done).values())) == (OK, {"ok"})
    assert "HTTP+SSE" in rungs(done)["HTTP"]["text"]
    assert rungs(done)["opening"]["text"].startswith("legacy: opened by initialize")
    assert rungs(done)["version"]["text"] == "2024-11-05"


@pytest.mark.parametrize("spoken", [VERSIONS[:1], VERSIONS[1:3], VERSIONS[-1:]])
async def test_a_server_limited_to_some_versions_is_well(splice: Splice, spoken: tuple[str, ...]) -> None:
    async with listening(limited_server.build(spoken).http_app()) as url:
        done = await examined(splice, url)
    assert (done.code, set(statuses(done).values())) == (OK, {"ok"})
    assert rungs(done)["HTTP"]["text"].endswith("an MCP endpoint")
    assert rungs(done)["version"]["text"] == spoken[-1]


@pytest.mark.parametrize(
    ("spoken", "protocol", "why"),
    [
        (VERSIONS[:1], "modern", "it wants `initialize`, but protocol= allows"),
        (VERSIONS[:1], "2025-06-18", "answered the handshake with protocol version '2024-11-05'"),
        (VERSIONS[-1:], "legacy", "Unsupported protocol version"),
    ],
)
def test_a_version_that_was_asked_for_and_is_not_spoken(
    splice: Splice, spoken: tuple[str, ...], protocol: str, why: str
) -> None:
    program = [sys.executable, str(limited_server.__file__), *spoken]
    last = broken(splice("doctor", "--json", "--protocol", protocol, "--", *program))
    assert last["name"] == "opening"
    assert why in last["text"]
    assert last["advice"] == (
        f"the server does not speak what --protocol {protocol} asks for; without it, they come to terms by themselves"
    )


async def test_a_server_that_does_not_answer(splice: Splice) -> None:
    async def hang(visit: Visit) -> None:
        await visit.left.wait()

    async with raw_server(hang) as server:
        last = broken(await examined(splice, server.url, "--timeout", "1"))
    assert (last["name"], last["text"]) == ("HTTP", "no answer in time; --timeout allows more")


async def test_a_server_that_speaks_something_else(splice: Splice) -> None:
    async def ssh(visit: Visit) -> None:
        await visit.raw(b"SSH-2.0-x\r\n\r\n")

    async with raw_server(ssh) as server:
        last = broken(await examined(splice, server.url))
    assert last["name"] == "HTTP"
    assert "not HTTP" in last["text"]


async def test_a_proxy_of_the_environment_takes_the_place_of_the_address(
    splice: Splice, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with raw_server(answers) as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/mcp").replace("//", "//me:secret@"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        done = await examined(splice, "http://example.invalid/mcp")
    assert done.code == OK
    assert "the proxy of the environment, 127.0.0.1:" in rungs(done)["resolve"]["text"]
    assert "secret" not in done.out
    assert "not encrypted" in rungs(done)["target"]["details"][0]


# TLS.


async def secure(splice: Splice, tls: ssl.SSLContext, *, host: str = "127.0.0.1", scheme: str = "https") -> Done:
    async with raw_server(answers, tls) as server:
        return await examined(splice, server.url.replace("127.0.0.1", host).replace("https", scheme))


async def test_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    trusted, tls = make_certificates(tmp_path)
    env = {**os.environ, "SSL_CERT_FILE": str(trusted)}  # read once, at the start of a process
    async with raw_server(answers, tls) as server:
        ended = await asyncio.to_thread(splice_process, "doctor", "--json", server.url, python=sys.executable, env=env)
    done = Done(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert done.code == OK
    found = rungs(done)["TLS"]
    assert found["status"] == "warning"
    assert found["text"] == "TLSv1.3, certificate by an authority, good for 0 days"
    assert found["details"][0].startswith("the certificate ends soon")
    assert statuses(done)["HTTP"] == "ok"


async def test_a_certificate_for_another_name(splice: Splice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    trusted, tls = make_certificates(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    last = broken(await secure(splice, tls, host="localhost"))
    assert last["name"] == "TLS"
    assert "ostname mismatch" in last["text"]
    assert "the name that the certificate is for" in last["advice"]


async def test_a_certificate_of_nobody_we_know(splice: Splice, tmp_path: Path) -> None:
    _, tls = make_certificates(tmp_path)
    last = broken(await secure(splice, tls))
    assert "the certificate is not trusted" in last["text"]
    assert "SSL_CERT_FILE" in last["advice"]


def test_https_where_there_is_only_http(splice: Splice, url: str) -> None:
    last = broken(splice("doctor", "--json", url.replace("http:", "https:")))
    assert last["name"] == "TLS"
    assert "speaks no TLS" in last["text"]
    assert "begins with http://" in last["advice"]


async def test_http_where_there_is_only_https(splice: Splice, tmp_path: Path) -> None:
    _, tls = make_certificates(tmp_path)
    last = broken(await secure(splice, tls, scheme="http"))
    assert last["name"] == "HTTP"
    assert "is the scheme right" in last["advice"]


def test_a_ping_that_is_refused(odd: Callable[..., Done]) -> None:
    done = odd(ping={"code": -32603, "message": "no"})
    assert (done.code, statuses(done)["ping"]) == (FAILED, "broken")
