"""`splice serve sequential-thinking`: its settings."""

import sys

from splice.servers.starting import Command

COMMAND = Command(
    "sequential-thinking",
    "think step by step, revise and branch",
    "splice.servers.sequential_thinking.server:make",
)
COMMAND.setting(
    "--disable-thought-logging",
    action="store_true",
    env=["DISABLE_THOUGHT_LOGGING"],
    help="do not draw each thought on stderr",
)

if __name__ == "__main__":
    sys.exit(COMMAND.main())
