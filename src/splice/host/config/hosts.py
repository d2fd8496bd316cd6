"""The configuration files of hosts: where each keeps the servers it uses, and how an entry looks there."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from splice.host.config.jsonc import BadConfiguration


class Host(NamedTuple):
    """A program that uses servers."""

    title: str
    path: Callable[[], Path]
    """Where it keeps them."""
    key: str = "mcpServers"
    """The member of the file that has the servers."""
    url_key: str | None = "url"
    """The member of an entry that has the URL; None: it uses programs only."""
    typed: bool = False
    """Its entries say what they are: `"type": "stdio"`, `"type": "http"`."""


def _claude_desktop() -> Path:
    if sys.platform == "win32":
        base = Path(os.environ.get("APPDATA", "~/AppData/Roaming"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Application Support")
    else:
        base = Path(os.environ.get("XDG_CONFIG_HOME", "~/.config"))
    return base / "Claude" / "claude_desktop_config.json"


HOSTS = {
    "claude": Host("Claude Desktop", _claude_desktop, url_key=None),
    "claude-code": Host("Claude Code, in this project", lambda: Path(".mcp.json"), typed=True),
    "cursor": Host("Cursor", lambda: Path("~/.cursor/mcp.json")),
    "vscode": Host("VS Code, in this folder", lambda: Path(".vscode/mcp.json"), key="servers", typed=True),
    "windsurf": Host("Windsurf", lambda: Path("~/.codeium/windsurf/mcp_config.json"), url_key="serverUrl"),
    "gemini": Host("Gemini CLI", lambda: Path("~/.gemini/settings.json"), url_key="httpUrl"),
}


def written_for(host: Host, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Write an entry, with `command` or `url`, the way a host reads it. Raises `BadConfiguration`."""
    if "url" not in entry:
        return {**({"type": "stdio"} if host.typed else {}), **entry}
    if host.url_key is None:
        raise BadConfiguration(f"{host.title} takes no URLs in its file; add the server in its settings")
    rest = {key: value for key, value in entry.items() if key != "url"}
    return {**({"type": "http"} if host.typed else {}), host.url_key: entry["url"], **rest}
