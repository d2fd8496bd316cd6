"""The command of the filesystem server, and its settings."""

import sys

from splice.servers.starting import Command

COMMAND = Command(
    "filesystem", "read, search and change files in allowed directories", "splice.servers.filesystem.server:make"
)
COMMAND.setting(
    "directories",
    nargs="*",
    is_path=True,
    metavar="DIRECTORY",
    help="a directory to allow, with all below it; a client that has roots replaces these by its own",
)
COMMAND.setting("--read-only", action="store_true", help="offer no tool that changes anything")
COMMAND.setting("--max-bytes", type=int, help="how much text one answer holds (1000000)")
COMMAND.setting(
    "--max-media-bytes", type=int, help="how large a file read_media_file, edit_file and resources take (10000000)"
)
COMMAND.setting("--max-entries", type=int, help="how many files and directories one answer names (5000)")
COMMAND.setting("--poll-seconds", type=float, help="how often files that clients subscribed to are looked at (1)")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
