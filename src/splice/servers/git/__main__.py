"""The command of the git server: `splice serve git`, `python -m splice.servers.git`."""

import sys

from splice.servers.starting import Command

COMMAND = Command("git", "look at and change git repositories", "splice.servers.git.server:make")
COMMAND.setting(
    "-r",
    "--repository",
    dest="repositories",
    action="append",
    is_path=True,
    metavar="PATH",
    help="a repository that may be used, also by a path inside it; repeatable (what lies in the working directory)",
)
COMMAND.setting("--any-repository", action="store_true", help="every repository that this user can reach may be used")
COMMAND.setting("--read-only", action="store_true", help="offer no tool that changes a repository")
COMMAND.setting("--timeout", type=float, metavar="SECONDS", help="how long one run of git may take (30)")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
