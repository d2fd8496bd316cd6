"""The command of the server `sqlite`."""

import sys

from splice.servers.starting import Command

COMMAND = Command("sqlite", "ask and change a SQLite file", "splice.servers.sqlite.server:make")
COMMAND.setting(
    "--db-path",
    metavar="FILE",
    is_path=True,
    help="the database; made if it is not there (./sqlite_mcp_server.db)",
)
COMMAND.setting("--read-only", action="store_true", help="offer nothing that writes; the file must be there")
COMMAND.setting("--max-rows", type=int, metavar="N", help="rows of a result, at the most (1000)")
COMMAND.setting("--timeout", type=float, metavar="SECONDS", help="how long a statement may take (10)")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
