"""The command of the server that shows everything."""

import sys

from splice.servers.starting import Command

COMMAND = Command("everything", "show every feature of the protocol", "splice.servers.everything.server:make")
COMMAND.setting("--show-env", action="store_true", help="let `get-env` tell values too, not names only")
COMMAND.setting("--pace", type=float, metavar="SECONDS", help="between two messages of what a toggle started (5)")
COMMAND.setting("--page-size", type=int, metavar="ENTRIES", help="cuts lists into pages; one page unless told")
COMMAND.setting(
    "--gzip-max-fetch-size",
    type=int,
    metavar="BYTES",
    env=["GZIP_MAX_FETCH_SIZE"],
    help="the most that `gzip-file-as-resource` compresses (10485760)",
)
COMMAND.setting(
    "--gzip-max-fetch-time-millis",
    type=int,
    metavar="MS",
    env=["GZIP_MAX_FETCH_TIME_MILLIS"],
    help="how long it may take to fetch that (30000)",
)
COMMAND.setting(
    "--gzip-allowed-domains",
    metavar="NAMES",
    env=["GZIP_ALLOWED_DOMAINS"],
    help="hosts to fetch from, with those below them, separated by commas; all public ones unless told",
)
COMMAND.setting("--gzip-allow-loopback", action="store_true", help="fetch from servers on this machine too")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
