"""`splice list`: list what a server offers."""

from collections.abc import Iterable
from typing import Any, TypeAlias, Unpack

import click
from rich.text import Text

from splice import Client
from splice.cli.colours import console
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, reach_options, talk
from splice.cli.showing import prompt_signature, tool_signature
from splice.cli.text import as_json, one_line, safe
from splice.types import Prompt, Resource, ResourceTemplate, Tool

Offer: TypeAlias = Tool | Resource | ResourceTemplate | Prompt
HEADINGS = {
    "tools": "Tools",
    "resources": "Resources",
    "resourceTemplates": "Resource templates",
    "prompts": "Prompts",
}


@click.command(epilog=TARGET_HELP)
@click.argument("words", nargs=-1, metavar="TARGET")
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], **reach: Unpack[Reach]) -> int:
    """List the tools, resources, resource templates and prompts of a server."""

    async def show(client: Client, rest: list[str]) -> int:
        if rest:
            raise Stop(USAGE, f"one server at a time, please; what is {rest[0]!r}?")
        offers = await offers_of(client)
        if reach["as_json"]:
            about = {
                "server": client.server_info,
                "version": client.protocol_version,
                "instructions": client.instructions,
            }
            print(as_json(about | offers))
        else:
            _show(client, offers)
        return OK

    return talk(words, tail, show, **reach)


async def offers_of(client: Client) -> dict[str, list[Any]]:
    """List all a server offers, asking only for what it says it has."""
    has = client.capabilities
    return {
        "tools": await client.list_tools() if has.tools else [],
        "resources": await client.list_resources() if has.resources else [],
        "resourceTemplates": await client.list_resource_templates() if has.resources else [],
        "prompts": await client.list_prompts() if has.prompts else [],
    }


def _show(client: Client, offers: dict[str, list[Any]]) -> None:
    out = console()
    server = client.server_info
    out.print(
        Text.assemble(
            (one_line(server.name), "bold"), f" {one_line(server.version)}, protocol {client.protocol_version}"
        )
    )
    if client.instructions:
        out.print(Text(safe(client.instructions).strip(), "italic"))
    for kind, heading in HEADINGS.items():
        if offers[kind]:
            out.print(Text(f"\n{heading}", "bold cyan"))
            for offer in offers[kind]:
                out.print(*_lines(offer), sep="\n")
    if not any(offers.values()):
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
    yield Text(f"  {heading}", "green")
    if offer.description is not None:
        for each in safe(offer.description).strip().splitlines():
            yield Text(f"      {each}")
