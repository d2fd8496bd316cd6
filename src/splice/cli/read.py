"""`splice read`: read a resource."""

import base64
import sys
from typing import Unpack

import click

from splice import Client
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.reaching import TARGET_HELP, Reach, reach_options, talk
from splice.cli.showing import contents_text
from splice.cli.text import as_json
from splice.types import ResourceContents


@click.command(epilog=TARGET_HELP)
@click.argument("words", nargs=-1, metavar="TARGET URI")
@reach_options
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...], **reach: Unpack[Reach]) -> int:
    """Read a resource and print its contents.

    On a terminal bytes are described, and characters that a terminal would obey are written out. Into a file or a
    pipe the contents go as they are.
    """

    async def read(client: Client, rest: list[str]) -> int:
        if len(rest) != 1:
            raise Stop(USAGE, "which resource? Give one URI; `splice list` names them")
        result = await client.read_resource(rest[0])
        if reach["as_json"]:
            print(as_json(result))
        elif sys.stdout.isatty():
            print("\n".join(contents_text(each) for each in result.contents))
        else:
            sys.stdout.flush()
            for each in result.contents:
                sys.stdout.buffer.write(_bytes(each))
        return OK

    return talk(words, tail, read, **reach)


def _bytes(contents: ResourceContents) -> bytes:
    if contents.text is not None:
        return contents.text.encode()
    return base64.b64decode(str(contents.blob))
