"""A server for the tests of how servers are started: it tells its settings, and fails when asked to."""

from typing import Any

from splice import Server

made: list[dict[str, Any]] = []
"""The settings of each server that was made, and how it was run."""


class Told(Server):
    """A server that tells how it would be run."""

    def run(self, transport: Any = "stdio", **options: Any) -> None:
        made[-1]["run"] = (transport, options)


def make(**settings: Any) -> Server:
    if settings.get("level") == 9:
        raise ValueError("level 9 is more than there is")
    made.append(settings)
    return Told("told")


def make_real(**settings: Any) -> Server:
    return Server("real")
