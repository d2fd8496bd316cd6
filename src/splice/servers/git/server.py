"""The git server: its tools, and the settings that bound them."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

from splice import Server
from splice.servers.git.reading import Reading
from splice.servers.git.repository import Repositories
from splice.servers.git.running import Program
from splice.servers.git.scope import Scope
from splice.servers.git.writing import Writing
from splice.types import ToolAnnotations

SECONDS = 30.0
"""How long one run of git may take."""

LOOKS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
SETTLES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
DROPS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

INSTRUCTIONS = """Works on Git repositories. Each tool takes repo_path, the path of one.
Look with git_status and the git_diff tools before you change something; git_add stages, git_commit records it.
Nothing is fetched or pushed; hooks and filters do not run. Long output is cut, and says how to get the rest."""


def make(
    *,
    repositories: Sequence[str | os.PathLike[str]] = (),
    any_repository: bool = False,
    read_only: bool = False,
    timeout: float = SECONDS,
) -> Server:
    """Make the server. Raises `ValueError` for a wrong setting, and where git is not installed."""
    if not 0 < timeout < math.inf:
        raise ValueError(f"--timeout is a number of seconds above 0, not {timeout:g}")
    scope = Scope(repositories, any_repository=any_repository)
    opened = Repositories(Program(_program(), timeout))
    server = Server("mcp-git", title="Git", instructions=INSTRUCTIONS)
    look = Reading(scope, opened)
    server.add_tool(look.git_status, title="Status", annotations=LOOKS)
    server.add_tool(look.git_diff_unstaged, title="Unstaged changes", annotations=LOOKS)
    server.add_tool(look.git_diff_staged, title="Staged changes", annotations=LOOKS)
    server.add_tool(look.git_diff, title="Changes since a revision", annotations=LOOKS)
    server.add_tool(look.git_log, title="History", annotations=LOOKS)
    server.add_tool(look.git_show, title="Show a commit or file", annotations=LOOKS)
    server.add_tool(look.git_branch, title="Branches", annotations=LOOKS)
    if not read_only:
        change = Writing(scope, opened)
        server.add_tool(change.git_add, title="Stage", annotations=SETTLES)
        server.add_tool(change.git_commit, title="Commit", annotations=CHANGES)
        server.add_tool(change.git_reset, title="Unstage everything", annotations=DROPS)
        server.add_tool(change.git_create_branch, title="Create a branch", annotations=CHANGES)
        server.add_tool(change.git_checkout, title="Switch to a branch", annotations=CHANGES)
    return server


def _program() -> str:
    """Find git once, so that it is not looked for in a directory that a call could name."""
    for folder in os.get_exec_path():
        path = Path(folder, "git")
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            return str(path)
    raise ValueError("git is not installed: there is no program of this name in PATH")
