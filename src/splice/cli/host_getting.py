"""`splice host mcp get`: one server, as it is configured and as it was last seen."""

from typing import Any

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import print_json, tell_try
from splice.cli.host_files import Known, config_option, known, line_of, quoted
from splice.cli.host_listing import Seen, described, seen
from splice.cli.outcomes import OK
from splice.host.text import one_line


@click.command()
@click.argument("name")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@debug_option
def command(name: str, configs: tuple[str, ...], as_json: bool) -> int:
    """Show one server, as it is configured and as it was last seen. It is not started."""
    here = known(configs)
    found = seen(here.entry(name), here)
    if as_json:
        print_json(_whole(found, here))
        return OK
    print(found.entry.name)
    for title, text in _facts(found, here).items():
        if text:
            print(f"  {title:<13} {text}")
    if found.state == "untrusted":
        tell_try(f"splice host mcp trust {quoted(found.entry.name)}")
    return OK


def _facts(found: Seen, here: Known) -> dict[str, str]:
    entry, manifest = found.entry, found.manifest
    line = line_of(entry)
    told = {
        "from": f"{here.shown(entry.source)}{f':{line}' if line else ''}",
        "runs": one_line(entry.runs),
        "in": one_line(entry.cwd) or ("" if entry.folder is None or entry.url else here.shown(entry.folder)),
        "gets": ", ".join(entry.variables),
        "state": f"{found.state}: {found.why}" if found.why else found.state,
        "not done": "; ".join(entry.ignored),
        "fingerprint": entry.fingerprint[:16],
    }
    if manifest is not None:
        server = manifest.server
        told["calls itself"] = "" if server is None else one_line(f"{server.name} {server.version}")
        told["protocol"] = one_line(manifest.protocol)
        told["tools"] = ", ".join(one_line(each.name) for each in manifest.tools)
        told["prompts"] = ", ".join(one_line(each.name) for each in manifest.prompts)
    return told


def _whole(found: Seen, here: Known) -> dict[str, Any]:
    entry, told = found.entry, described(found, here)
    own = {
        "line": line_of(entry) or None,
        "cwd": entry.cwd,
        "variables": entry.variables,
        "ignored": list(entry.ignored),
        "prompts": None if found.manifest is None else [each.name for each in found.manifest.prompts],
        "resources": None if found.manifest is None else [each.uri for each in found.manifest.resources],
    }
    return {"ok": True, **told, **own}
