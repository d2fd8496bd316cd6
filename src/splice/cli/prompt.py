"""`splice prompt`: fill in a prompt."""

from typing import Unpack

import click

from splice import Client
from splice.cli.arguments import pairs
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, output_option, reach_options, talk, words_of
from splice.cli.saving import binaries, save
from splice.cli.showing import block_text
from splice.host.text import as_json, safe


@click.command(epilog=TARGET_HELP)
@words_of("TARGET NAME [KEY=VALUE]...")
@output_option
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], output: str | None, **reach: Unpack[Reach]) -> int:
    """Fill in a prompt and print its messages."""

    async def prompt(client: Client, rest: list[str]) -> int:
        if not rest:
            raise Stop(USAGE, "which prompt? `splice list` names them")
        result = await client.get_prompt(rest[0], pairs(rest[1:]))
        if reach["as_json"]:
            print(as_json(result))
        else:
            if result.description is not None:
                print(f"# {safe(result.description)}\n")
            print("\n\n".join(f"{each.role}: {block_text(each.content)}" for each in result.messages))
        if output is not None:
            save(output, binaries(each.content for each in result.messages))
        return OK

    return talk(words, tail, prompt, **reach)
