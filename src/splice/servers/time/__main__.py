"""`splice serve time`: its settings."""

import sys

from splice.servers.starting import Command

COMMAND = Command("time", "tell the time, convert it between zones", "splice.servers.time.server:make")
COMMAND.setting("--local-timezone", metavar="ZONE", help="the zone to assume for the user (this machine's)")

if __name__ == "__main__":
    sys.exit(COMMAND.main())
