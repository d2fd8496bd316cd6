"""The host's own tools: what the model may read of servers, and what it is told when it may not."""

from pathlib import Path
from typing import Any

from host.hosting import call, calls, hosting, run
from host.turns.test_turn import results
from splice import Server


def shelf(name: str, *uris: str) -> Server:
    server = Server(name)
    for uri in uris:
        server.resource(uri)(lambda uri=uri: f"{name} has {uri}")
    return server


def reading(server: Any, uri: Any) -> dict[str, Any]:
    return call("read_resource", server=server, uri=uri)


def test_resources_are_read_that_a_server_lists_and_no_others(tmp_path: Path) -> None:
    rows = [
        ("one", "book://a", "done", "one has book://a"),
        ("two", "book://a", "done", "one has book://a"),  # the only one that lists it
        ("two", "book://both", "done", "two has book://both"),
        ("none", "book://both", "failed", "there is no such server; there are one, two, three"),
        ("three", "book://both", "denied", "three does not list this resource. These do: one, two."),
        ("one", "http://elsewhere.example/?said=all", "denied", "Ask the user to attach it"),
        ("one", 7, "denied", "one does not list this resource"),
        (None, "book://a", "failed", "there is no such server"),
    ]
    servers = {
        "one": shelf("one", "book://a", "book://both"),
        "two": shelf("two", "book://both"),
        "three": shelf("three", "book://c"),
    }

    async def main() -> None:
        turn = {"call": [reading(server, uri) for server, uri, _, _ in rows]}
        async with hosting(tmp_path, servers, turn, {"say": "So."}) as host:
            await host.say("read")
            await host.wait()
            assert [each.state for each in calls(host)] == [state for _, _, state, _ in rows]
            for (text, is_error), (_, _, state, says) in zip(results(host.chat.messages[2]), rows, strict=True):
                assert says in text
                assert is_error == (state != "done")

    run(main())
