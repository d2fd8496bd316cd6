"""`splice list`: list what a server offers."""

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, Unpack

import click
from rich.text import Text

from splice import Client, MCPError, MethodNotFound
from splice.cli.colours import console
from splice.cli.failures import described
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, reach_options, talk, told, words_of
from splice.cli.showing import prompt_signature, title_of, tool_marks, tool_signature
from splice.host.text import as_json, one_line, safe
from splice.types import Prompt, Resource, ResourceTemplate, Tool

Offer: TypeAlias = Tool | Resource | ResourceTemplate | Prompt
HEADINGS = {
    "tools": "Tools",
    "resources": "Resources",
    "resourceTemplates": "Resource templates",
    "prompts": "Prompts",
}


@click.command(epilog=TARGET_HELP)
@words_of("TARGET")
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], **reach: Unpack[Reach]) -> int:
    """List the tools, resources, resource templates and prompts of a server.

    A list that the server fails to give is told on stderr, and makes the exit code 1; the others are shown.
    """

    async def show(client: Client, rest: list[str]) -> int:
        if rest:
            raise Stop(USAGE, f"one server at a time, please; what is {rest[0]!r}?")
        offers, errors = await offers_of(client)
        if reach["as_json"]:
            about = {
                "server": client.server_info,
                "version": client.protocol_version,
                "instructions": client.instructions,
            }
            failed = {"errors": {kind: described(error) for kind, error in errors.items()}} if errors else {}
            print(as_json(about | offers | failed))
        else:
            _show(client, offers, complete=not errors)
        for kind, error in errors.items():
            print(f"splice: the server did not list its {HEADINGS[kind].lower()}: {told(error)}", file=sys.stderr)
        return FAILED if errors else OK

    return talk(words, tail, show, **reach)


async def offers_of(client: Client) -> tuple[dict[str, list[Any]], dict[str, MCPError]]:
    """List all a server offers, asking only for what it says it has; and tell which lists failed, and why.

    Many servers declare resources and know no templates: a list without a method is empty.
    """
    has = client.capabilities
    lists: dict[str, tuple[object, Callable[[], Awaitable[list[Any]]]]] = {
        "tools": (has.tools, client.list_tools),
        "resources": (has.resources, client.list_resources),
        "resourceTemplates": (has.resources, client.list_resource_templates),
        "prompts": (has.prompts, client.list_prompts),
    }
    offers: dict[str, list[Any]] = {}
    errors: dict[str, MCPError] = {}
    for kind, (declared, listing) in lists.items():
        offers[kind] = []
        try:
            if declared:
                offers[kind] = await listing()
        except MethodNotFound:
            continue
        except MCPError as error:
            errors[kind] = error
    return offers, errors


def _show(client: Client, offers: dict[str, list[Any]], *, complete: bool) -> None:
    out = console()
    server = client.server_info
    name, version = one_line(server.name) or "a server without a name", one_line(server.version)
    about = f"{f' {version}' if version else ''}, protocol {client.protocol_version}  {title_of(server)}".rstrip()
    out.print(Text.assemble((name, "bold"), about))
    if client.instructions:
        out.print(Text(safe(client.instructions).strip(), "italic"))
    for kind, heading in HEADINGS.items():
        if offers[kind]:
            out.print(Text(f"\n{heading}", "bold cyan"))
            for offer in offers[kind]:
                out.print(*_lines(offer), sep="\n")
    if complete and not any(offers.values()):
        out.print("It offers nothing that could be listed.")


def _lines(offer: Offer) -> Iterable[Text]:
    """Write one entry: what it is called by, and what it is."""
    match offer:
        case Tool():
            heading = tool_signature(offer)
        case Prompt():
            heading = prompt_signature(offer)
        case Resource():
            heading = one_line(offer.uri)
        case ResourceTemplate():
            heading = one_line(offer.uri_template)
    notes = f"{title_of(offer)} {tool_marks(offer) if isinstance(offer, Tool) else ''}".strip()
    yield Text.assemble((f"  {heading}", "green"), f"  {notes}" if notes else "")
    if offer.description is not None:
        for each in safe(offer.description).strip().splitlines():
            yield Text(f"      {each}")
    if isinstance(offer, Prompt):
        for argument in offer.arguments or ():
            if argument.description is not None:
                yield Text(f"      {one_line(argument.name)}: {one_line(argument.description)}")
