"""The configuration files of hosts: where each keeps the servers it uses, and how an entry looks there."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from splice.cli.outcomes import FAILED, USAGE, Stop
from splice.host.text import one_line

_SEE = "see `splice install --print` for the entry, and add it by hand"

_STRING = re.compile(r'"(\\.|[^"\\])*"')
_COMMENT = re.compile(r"//|/\*")


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
    """Write an entry, with `command` or `url`, the way a host reads it. Raises `Stop`."""
    if "url" not in entry:
        return {**({"type": "stdio"} if host.typed else {}), **entry}
    if host.url_key is None:
        raise Stop(USAGE, f"{host.title} takes no URLs in its file; add the server in its settings")
    rest = {key: value for key, value in entry.items() if key != "url"}
    return {**({"type": "http"} if host.typed else {}), host.url_key: entry["url"], **rest}


def add(path: Path, key: str, name: str, entry: Mapping[str, Any], *, force: bool) -> None:
    """Put an entry into a configuration file; everything else in it stays. Raises `Stop`, and leaves the file alone."""
    text = _read(path)
    try:
        found: Any = json.loads(text, object_pairs_hook=_unique) if text.strip() else {}
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        why = (
            "has comments, which would be lost" if _COMMENT.search(_STRING.sub("", text)) else f"is not JSON ({error})"
        )
        raise Stop(FAILED, f"{path} {why}; it was left as it is: {_SEE}") from error
    servers: Any = cast("dict[str, Any]", found).setdefault(key, {}) if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        raise Stop(FAILED, f"{path} has no object {key!r}; it was left as it is: {_SEE}")
    if name in servers and not force:
        raise Stop(USAGE, f"{path} has a server {one_line(name)!r} already; --force replaces it")
    cast("dict[str, Any]", servers)[name] = entry
    _write(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("an object has a name twice")
    return found


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise Stop(FAILED, f"{path} is not a regular file; it was left as it is: {_SEE}")
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError) as error:
        raise Stop(FAILED, f"cannot read {path}: {error}") from error


def _write(path: Path, text: str) -> None:
    """Replace a file as a whole: whoever reads it sees the old or the new one. It keeps its permissions."""
    target = path.resolve()  # a link stays a link
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=target.parent, delete=False) as file:
            new = Path(file.name)
            try:
                if target.exists():
                    new.chmod(target.stat().st_mode & 0o7777)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                new.replace(target)
            except BaseException:
                new.unlink()
                raise
    except OSError as error:
        raise Stop(FAILED, f"cannot write {path}: {error.strerror}") from error
