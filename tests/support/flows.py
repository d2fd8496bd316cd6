"""Drives a flow by replies that a test made up: no input, no output, no time."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from splice.auth.login.steps import HTTP, Flow, HTTPReply, Step

T = TypeVar("T")
Outcome = Any
"""An `HTTPReply`, what another step gives, an exception to be thrown, or a function of the step that gives one."""


class Driver:
    """Carries out the steps of a flow by outcomes, one each and in their order; all have to be used."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.steps: list[Step] = []

    def run(self, flow: Flow[T]) -> T:
        """Return what the flow does."""
        try:
            step = next(flow)
            while True:
                self.steps.append(step)
                outcome = self.outcome(step)
                step = flow.throw(outcome) if isinstance(outcome, Exception) else flow.send(outcome)
        except StopIteration as end:
            assert not self._outcomes, "the flow ended early"
            result: T = end.value
            return result

    def outcome(self, step: Step) -> Outcome:
        assert self._outcomes, f"not expected: {step!r}"
        first = self._outcomes.pop(0)
        return first(step) if callable(first) else first

    @property
    def requests(self) -> list[HTTP]:
        return [step for step in self.steps if isinstance(step, HTTP)]


class Web(Driver):
    """Answers by URL: an outcome, or a list of them that are used up in their order. There is nothing elsewhere."""

    def __init__(self, sites: Mapping[str, Outcome]) -> None:
        super().__init__()
        self.sites = {url: list(site) if isinstance(site, list) else site for url, site in sites.items()}

    def outcome(self, step: Step) -> Outcome:
        if not isinstance(step, HTTP):
            return None
        site = self.sites.get(step.url, HTTPReply(404))
        if isinstance(site, list):
            assert site, f"not expected: one more {step.method} {step.url}"
            site = site.pop(0)
        return site(step) if callable(site) else site

    def sent(self, url: str) -> list[HTTP]:
        return [request for request in self.requests if request.url == url]


def reply(status: int = 200, headers: Mapping[str, str] | None = None, **members: Any) -> HTTPReply:
    return HTTPReply(status, {"content-type": "application/json", **(headers or {})}, json.dumps(members).encode())


def form(request: HTTP | Step) -> dict[str, str]:
    assert isinstance(request, HTTP)
    pairs = parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def jwt(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read header and claims of a JWT; nothing is checked."""
    header, claims, _ = (urlsafe_b64decode(part + "==") for part in text.split("."))
    return json.loads(header), json.loads(claims)


Reply = Callable[[HTTP], HTTPReply]
