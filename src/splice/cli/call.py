"""`splice call`: call a tool."""

import sys
from typing import Any, Unpack

import click

from splice import Client, RPCError
from splice.cli.arguments import json_object, pairs, typed
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.progress import ProgressLine
from splice.cli.reaching import TARGET_HELP, Reach, output_option, reach_options, talk, words_of
from splice.cli.saving import binaries, save
from splice.cli.showing import result_text
from splice.host.text import as_json, listed
from splice.types import CallToolResult


@click.command(
    epilog=f"{TARGET_HELP} Values are read as the tool's schema says: numbers, true and false, JSON for lists and "
    "objects; the rest is text. Arguments may also be one JSON object: splice call server.py add '{\"a\": 1}'."
)
@words_of("TARGET TOOL [KEY=VALUE]...")
@click.option("--args", "given", metavar="JSON", help="The arguments as a JSON object; `-` reads it from stdin.")
@output_option
@reach_options
@click.pass_obj
def command(
    tail: list[str], words: tuple[str, ...], given: str | None, output: str | None, **reach: Unpack[Reach]
) -> int:
    """Call a tool and print its result.

    Progress and log messages go to stderr. What the server asks the user is asked here, or declined where there is
    no terminal. The exit code is 1 when the tool fails.
    """

    async def call(client: Client, rest: list[str]) -> int:
        if not rest:
            raise Stop(USAGE, "which tool? `splice list` names them")
        name, *said = rest
        arguments = await _arguments(client, name, said, given)
        with ProgressLine(sys.stderr) as progress:
            try:
                result = await client.call_tool(name, arguments, progress=progress)
            except RPCError as error:
                raise await _explained(client, name, error) from error
        _show(result, as_json_=reach["as_json"])
        if result.is_error is True:
            raise Stop(FAILED, f"the tool {name} failed", shown=result_text(result) or "nothing")
        if output is not None:
            save(output, binaries(result.content))
        return OK

    return talk(words, tail, call, **reach)


def _show(result: CallToolResult, *, as_json_: bool) -> None:
    if as_json_:
        print(as_json(result))
    else:
        print(result_text(result), file=sys.stderr if result.is_error is True else sys.stdout)


async def _arguments(client: Client, name: str, said: list[str], given: str | None) -> dict[str, Any]:
    """Gather the arguments from `key=value` words, JSON words and `--args`; later ones count."""
    arguments = {} if given is None else json_object(given)
    for word in said:
        if word.startswith("{"):
            arguments |= json_object(word)
    texts = pairs(word for word in said if not word.startswith("{"))
    if texts:
        schemas = {tool.name: tool.input_schema for tool in await client.list_tools()}
        arguments |= typed(texts, schemas.get(name, {}))
    return arguments


async def _explained(client: Client, name: str, error: RPCError) -> RPCError:
    """Name the tools there are, if the one that was called is none of them."""
    try:
        known = [tool.name for tool in await client.list_tools()]
    except RPCError:
        return error
    if name in known:
        return error
    return type(error)(listed(error.message, known), error.data, code=error.code)
