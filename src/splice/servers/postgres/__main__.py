"""The command of the server `postgres`."""

import sys

from splice.servers.starting import Command

COMMAND = Command("postgres", "ask a PostgreSQL database", "splice.servers.postgres.server:make")
COMMAND.setting(
    "--dsn",
    env=["DATABASE_URL", "POSTGRES_URL"],
    metavar="URL",
    help="the database, as libpq reads it; best in the environment, as others see command lines",
)
COMMAND.setting("--write", action="store_true", help="offer the tool execute, which changes the database")
COMMAND.setting("--read-only", action="store_true", help="offer nothing that writes, which is the default")
COMMAND.setting(
    "--schema",
    dest="schemas",
    action="append",
    metavar="NAME",
    help="a schema to list and to look for tables in; repeatable (all that the role may use)",
)
COMMAND.setting("--max-rows", type=int, metavar="N", help="rows of a result, at the most (1000)")
COMMAND.setting("--timeout", type=float, metavar="SECONDS", help="how long a statement may take (10)")
COMMAND.setting("--allow-superuser", action="store_true", help="serve although the role may read files or run programs")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
