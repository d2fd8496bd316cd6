"""`splice host mcp test`: start a server, and say what it offers, or why it fails and what to do."""

import asyncio
import sys
import time
from typing import Any

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import print_json, warn
from splice.cli.host_files import config_option, known
from splice.cli.host_starting import Started
from splice.cli.host_table import cut, painted
from splice.cli.outcomes import FAILED, OK
from splice.host.config.entries import Entry
from splice.host.connecting.hooks import Unavailable
from splice.host.connecting.manifest import Manifest
from splice.host.connecting.output import Line
from splice.host.items import Finding
from splice.host.text import one_line
from splice.host.tools.lint import lint
from splice.host.tools.pins import definition
from splice.types import Tool

WIDTH = 100


@click.command()
@click.argument("name")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print what was found, or the error, as JSON.")
@debug_option
def command(name: str, configs: tuple[str, ...], as_json: bool) -> int:
    """Start a server, and say what it offers or why it fails.

    Exit codes: 0 it works, 1 it works and something is wrong, 3 it cannot be started, 4 it is not trusted.
    """
    here = known(configs)
    entry = here.entry(name)
    began = time.monotonic()
    manifest, notes = asyncio.run(_tested(Started(here), entry))
    seconds = time.monotonic() - began
    findings = [(tool, each) for tool in manifest.tools for each in lint(definition(tool))]
    grave = [each for _, each in findings if each.is_grave]
    if as_json:
        print_json(_described(entry, manifest, seconds, findings) | {"ok": not grave and not notes, "notes": notes})
    else:
        _show(entry, manifest, seconds)
        for text in notes:
            warn(f"{entry.name}: {text}")
        for tool, each in findings:
            warn(f"{one_line(tool.name)}, {one_line(each.where) or 'as a whole'}: {one_line(each.what)}")
    return FAILED if grave or notes else OK


async def _tested(started: Started, entry: Entry) -> tuple[Manifest, list[str]]:
    """Start it and end it. Raises `Refused`."""
    connection = started.add(entry)
    try:
        await connection.client()
        notes = [each.text for each in connection.output.lines() if _is_trouble(each)]
        return connection.manifest or Manifest(), notes
    except Unavailable as error:
        raise started.refused(entry, error) from error
    finally:
        await started.connections.close()


def _is_trouble(line: Line) -> bool:
    """Tell whether a line is the host's word that a list failed, or is too long."""
    return line.source == "log" and line.text.startswith(("Its list", "It has more"))


def _show(entry: Entry, manifest: Manifest, seconds: float) -> None:
    """Print what a server offers."""
    out, server = sys.stdout, manifest.server
    title = one_line(f"{server.name} {server.version}") if server is not None else entry.name
    counts = (
        _counted(len(manifest.tools), "tool"),
        _counted(len(manifest.resources) + len(manifest.templates), "resource"),
        _counted(len(manifest.prompts), "prompt"),
    )
    facts = ", ".join((one_line(manifest.protocol), entry.transport, *counts, f"{seconds:.1f} s"))
    print(f"{painted(title, 'bold', out)}  {painted(f'· {facts}', 'dim', out)}")
    if manifest.tools:
        print("Tools")
        width = max(len(one_line(tool.name)) for tool in manifest.tools)
        for tool in manifest.tools:
            told = cut(one_line((tool.description or "").partition("\n")[0]), WIDTH)
            print(f"  {one_line(tool.name):<{width}}  {told}".rstrip())
    if manifest.prompts:
        print("Prompts")
        for prompt in manifest.prompts:
            print(f"  /{one_line(prompt.name)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _described(
    entry: Entry, manifest: Manifest, seconds: float, findings: list[tuple[Tool, Finding]]
) -> dict[str, Any]:
    server = manifest.server
    return {
        "name": entry.name,
        "server": None if server is None else {"name": server.name, "version": server.version},
        "protocol": manifest.protocol,
        "transport": entry.transport,
        "seconds": round(seconds, 3),
        "tools": [each.name for each in manifest.tools],
        "resources": [each.uri for each in manifest.resources],
        "templates": [each.uri_template for each in manifest.templates],
        "prompts": [each.name for each in manifest.prompts],
        "findings": [
            {"tool": tool.name, "where": each.where, "what": each.what, "grave": each.is_grave}
            for tool, each in findings
        ],
    }
