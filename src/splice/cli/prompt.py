"""`splice prompt`: fill in a prompt."""

from typing import Unpack

import click

from splice import Client
from splice.cli.arguments import pairs
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, reach_options, talk
from splice.cli.showing import block_text
from splice.cli.text import as_json, safe


@click.command(epilog=TARGET_HELP)
@click.argument("words", nargs=-1, metavar="TARGET NAME [KEY=VALUE]...")
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], **reach: Unpack[Reach]) -> int:
    """Fill in a prompt and print its messages."""

    async def prompt(client: Client, rest: list[str]) -> int:
        if not rest:
            raise Stop(USAGE, "which prompt? `splice list` names them")
        result = await client.get_prompt(rest[0], pairs(rest[1:]))
        if reach["as_json"]:
            print(as_json(result))
            return OK
        if result.description is not None:
            print(f"# {safe(result.description)}\n")
        print("\n\n".join(f"{each.role}: {block_text(each.content)}" for each in result.messages))
        return OK

    return talk(words, tail, prompt, **reach)
