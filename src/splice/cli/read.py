"""`splice read`: read a resource."""

import sys
from typing import Unpack

import click

from splice import Client
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, output_option, reach_options, talk, words_of
from splice.cli.saving import decoded, save
from splice.cli.showing import contents_text
from splice.host.text import as_json
from splice.types import ResourceContents


@click.command(epilog=TARGET_HELP)
@words_of("TARGET URI")
@output_option
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], output: str | None, **reach: Unpack[Reach]) -> int:
    """Read a resource and print its contents.

    On a terminal bytes are described, and characters that a terminal would obey are written out. Into a file or a
    pipe the contents go as they are; with --output text goes to the file too.
    """

    async def read(client: Client, rest: list[str]) -> int:
        if len(rest) != 1:
            raise Stop(USAGE, "which resource? Give one URI; `splice list` names them")
        result = await client.read_resource(rest[0])
        if reach["as_json"]:
            print(as_json(result))
        if output is not None:
            save(
                output,
                [
                    str(contents.blob) if contents.text is None else contents.text.encode()
                    for contents in result.contents
                ],
            )
        elif not reach["as_json"]:
            _show(result.contents)
        return OK

    return talk(words, tail, read, **reach)


def _show(contents: list[ResourceContents]) -> None:
    if sys.stdout.isatty():
        print("\n".join(contents_text(each) for each in contents))
        return
    sys.stdout.flush()
    for each in contents:
        sys.stdout.buffer.write(decoded(str(each.blob)) if each.text is None else each.text.encode())
