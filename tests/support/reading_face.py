"""A face in a process of its own: it folds the events of a web app, is loaded anew, answers, and prints what it sees.

It is started with the link that opens the door, and uses nothing but Python's own library.
"""

import json
import sys
from collections.abc import Callable
from http.cookiejar import CookieJar
from typing import Any
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

LIMIT = 10.0

Items = dict[str, dict[str, Any]]


class Face:
    """What the board is, as far as it was heard of."""

    def __init__(self, link: str) -> None:
        self._origin = link.partition("/?")[0]
        self._opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))
        page = self._opener.open(link, timeout=LIMIT).read().decode()
        self._key = page.partition('content="')[2].partition('"')[0]

    def seen(self, fits: Callable[[Items], Any]) -> Items:
        """Open the stream of events from its beginning, and fold it until the items are as they should be."""
        items: Items = {}
        with self._opener.open(self._request("/events"), timeout=LIMIT) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    batch = json.loads(line.removeprefix(b"data: "))
                    if batch["everything"]:
                        items.clear()
                    for event in batch["events"]:
                        if event["item"] is None:
                            items.pop(event["id"], None)
                        else:
                            items[event["id"]] = event["item"]
                    if fits(items):
                        return items
        raise SystemExit("the stream ended")

    def do(self, command: str, **arguments: Any) -> Any:
        """Give the host a command."""
        request = self._request(f"/do/{command}", json.dumps(arguments).encode())
        return json.load(self._opener.open(request, timeout=LIMIT))

    def _request(self, path: str, body: bytes | None = None) -> Request:
        headers = {"x-splice-csrf": self._key, "content-type": "application/json"}
        return Request(f"{self._origin}{path}", body, headers)


def of_kind(items: Items, kind: str) -> list[dict[str, Any]]:
    return [each for id, each in items.items() if id.startswith(f"{kind}:")]


def main() -> None:
    face = Face(sys.argv[1])
    first = face.seen(lambda items: of_kind(items, "question"))
    again = face.seen(lambda items: of_kind(items, "question"))
    (question,) = of_kind(again, "question")
    call = again[question["asked"]["call"]]
    face.do("answer", question=question["id"], answer={"type": "decision", "verdict": "once"})
    after = face.seen(lambda items: items[call["id"]]["state"] == "done")
    told = {
        "is_kept": of_kind(first, "question") == [question],
        "asked": [question["id"], call["server"], call["tool"], call["arguments"]],
        "left": of_kind(after, "question"),
        "trail": after[call["id"]]["trail"][-1]["who"],
    }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
