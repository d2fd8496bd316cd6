"""Plain HTTP routes beside the endpoint."""

import re
from typing import Any

import pytest
from starlette.responses import HTMLResponse

from splice import HTTPRequest, Server
from transports.asgi import Browser, modern

server = Server("routed")


@server.route("/health")
async def health() -> str:
    return "ok"


@server.route("/echo/", methods=["GET", "post"])
async def echo(request: HTTPRequest) -> dict[str, Any]:
    return {"method": request.method, "q": request.query, "x": request.headers["X-A"], "body": request.body.decode()}


@server.route("/bytes")
async def raw() -> bytes:
    return b"\0"


@server.route("/page")
async def page(request: HTTPRequest) -> HTMLResponse:
    return HTMLResponse(f"<p>{request.path}", status_code=201)


def browser(**options: Any) -> Browser:
    return Browser(server.http_app(**options))


@pytest.mark.parametrize("options", [{"path": "/mcp"}, {}], ids=["one path", "any path"])
@pytest.mark.parametrize(
    ("path", "root", "status", "kind", "body"),
    [
        ("/health", "", 200, "text/plain; charset=utf-8", b"ok"),
        ("/api/health/", "/api", 200, "text/plain; charset=utf-8", b"ok"),
        ("/bytes", "", 200, "application/octet-stream", b"\0"),
        ("/page", "", 201, "text/html; charset=utf-8", b"<p>/page"),
    ],
)
async def test_what_a_function_returns_is_sent(
    options: Any, path: str, root: str, status: int, kind: str, body: bytes
) -> None:
    answer = await browser(**options).send("GET", path=path, root_path=root)
    assert (answer.status, answer.headers["content-type"], answer.body) == (status, kind, body)


async def test_the_endpoint_is_served_beside_them() -> None:
    body, headers = modern("missing")
    assert (await browser(path="/mcp").post(body, headers)).json["error"]["code"] == -32602
    nowhere = await browser(path="/mcp").send("GET", path="/nowhere")
    assert (nowhere.status, nowhere.json["error"]["message"][-20:]) == (404, "MCP endpoint is /mcp")


@pytest.mark.parametrize("path", ["/shop", "/shop/nowhere"])
async def test_a_mounted_endpoint_names_its_whole_path(path: str) -> None:
    refused = await browser(path="/mcp").send("GET", path=path, root_path="/shop")
    assert refused.json["error"]["message"].endswith("; the MCP endpoint is /shop/mcp")


async def test_a_function_may_read_the_request() -> None:
    answer = await browser().send("POST", b"hi", {"x-a": "1"}, path="/echo", query_string=b"a=1&b=%20&a=2&c")
    assert answer.json == {"method": "POST", "q": {"a": "2", "b": " ", "c": ""}, "x": "1", "body": "hi"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("HEAD", "/health", {}, 200),
        ("POST", "/health", {}, 405),
        ("GET", "/health", {"host": "evil.example"}, 403),
        ("GET", "/health", {"origin": "https://evil.example"}, 403),
        ("POST", "/echo", {"content-length": "5000000", "expect": "100-continue"}, 413),
    ],
)
async def test_the_checks_of_the_endpoint_hold(method: str, path: str, headers: dict[str, str], status: int) -> None:
    answer = await browser().send(method, b"", headers, path=path)
    assert answer.status == status
    assert (status != 405) or answer.headers["allow"] == "GET, HEAD"


async def test_a_body_has_its_bounds() -> None:
    assert (await browser(max_body=10).send("POST", b"x" * 11, {"x-a": ""}, path="/echo")).status == 413


async def test_they_stop_with_the_server() -> None:
    stopped = browser()
    await stopped.app.stop()
    assert (await stopped.send("GET", path="/health")).status == 503


def test_what_cannot_be_a_route_is_refused() -> None:
    async def two(first: HTTPRequest, second: HTTPRequest) -> str:
        return first.path + second.path

    for fn in (lambda: "ok", two):
        with pytest.raises(TypeError, match="the route /x needs an `async def`"):
            server.route("/x")(fn)
    with pytest.raises(TypeError, match=r'a route needs a path: @server.route\("/health"\)'):
        server.route(health)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("path", "methods", "why"),
    [
        ("health", ["GET"], "begins with a slash and has no variables"),
        ("/health/", ["GET"], "a route /health already"),
        ("/items/{id}", ["GET"], "take them from the query of an HTTPRequest: '/items/{id}' does not"),
        ("/x", "POST", "a list of methods such as ['GET', 'POST'], not 'POST'"),
        ("/x", ["FETCH"], "not ['FETCH']"),
        ("/x", [], "not []"),
    ],
)
def test_what_would_never_be_reached_is_refused(path: str, methods: Any, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        server.route(path, methods)(health)


def test_the_endpoint_hides_no_route() -> None:
    with pytest.raises(ValueError, match="path='/health/' is that of a route already"):
        server.http_app(path="/health/")
