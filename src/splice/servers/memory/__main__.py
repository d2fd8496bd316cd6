"""`splice serve memory`: its settings."""

import sys

from splice.servers.starting import Command

COMMAND = Command("memory", "a knowledge graph that outlives the conversation", "splice.servers.memory.server:make")
COMMAND.setting(
    "--file",
    env=["MEMORY_FILE_PATH"],
    is_path=True,
    help="where it is kept (memory.jsonl in the user's data directory)",
)
COMMAND.setting("--read-only", action="store_true", help="offer no tool that changes it")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
