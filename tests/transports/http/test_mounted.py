"""The endpoint inside somebody else's application, with nothing wired up for it."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

from splice.transports.http import visits
from splice.transports.http.app import HTTPApp
from transports.asgi import LEGACY, Browser, FakeService, Gate, call, modern, nothing_runs_on, within


class Passing(BaseHTTPMiddleware):
    """Middleware that runs the app in a task of its own and wraps what it receives and sends."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers["x-passed"] = "yes"
        return response


def mounted(*middleware: type[BaseHTTPMiddleware]) -> tuple[FakeService, Browser]:
    service = FakeService()
    routes = [Mount("/api", HTTPApp(service, path="/mcp"))]
    app: Any = Starlette(routes=routes, middleware=[Middleware(each) for each in middleware])
    return service, Browser(app)


@pytest.mark.parametrize("middleware", [(), (Passing,)])
async def test_both_eras_are_served(middleware: tuple[type[BaseHTTPMiddleware], ...]) -> None:
    _, browser = mounted(*middleware)
    body, headers = modern("echo", text="hi")
    answer = await browser.post(body, headers, path="/api/mcp")
    assert answer.json["result"] == {"echo": {"text": "hi"}}
    assert (await browser.post(body, headers, path="/api/elsewhere")).status == 404
    initialize = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": LEGACY}}
    session = (await browser.post(initialize, path="/api/mcp")).headers["mcp-session-id"]
    answer = await browser.post(call("echo"), {"mcp-session-id": session}, path="/api/mcp")
    assert answer.status == 200


@pytest.mark.parametrize("notes", [(), ("notifications/progress",)])
@pytest.mark.parametrize("middleware", [(), (Passing,)])
async def test_leaving_still_cancels(
    middleware: tuple[type[BaseHTTPMiddleware], ...], notes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    service, browser = mounted(*middleware)
    service.tools["gate"] = gate = Gate(*notes)
    body, headers = modern("gate")
    visit = browser.begin("POST", body, headers, path="/api/mcp")
    await within(gate.entered.wait())
    visit.disconnect()
    assert await within(gate.outcome) == "cancelled"
    await nothing_runs_on()
