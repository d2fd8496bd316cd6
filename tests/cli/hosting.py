"""A project and a home of one's own, for the commands of the host."""

import json
from pathlib import Path
from typing import Any

from cli.conftest import SERVER
from splice.cli.targets import this_splice
from splice.host.places import Places


def shop(**more: Any) -> dict[str, Any]:
    """Write an entry of the shop."""
    command, *args = this_splice("run", SERVER)
    return {"command": command, "args": args, **more}


def place(folder: Path, **servers: Any) -> Path:
    """Write the file of a project."""
    path = folder / ".mcp.json"
    path.write_text("// ours\n" + json.dumps({"mcpServers": servers}, indent=2))
    return path


def own(home: Path) -> Any:
    """Read the user's own file."""
    return json.loads(Places.under(home).servers.read_text())
