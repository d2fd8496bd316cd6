"""The command of the server: `splice serve fetch`, or `python -m splice.servers.fetch`."""

import sys

from splice.servers.starting import Command

COMMAND = Command("fetch", "read pages of the web, as Markdown", "splice.servers.fetch.server:make")
COMMAND.setting(
    "--user-agent",
    metavar="TEXT",
    help="the User-Agent header, instead of those that sites know: one for the model, one for the user",
)
COMMAND.setting("--ignore-robots-txt", action="store_true", help="read what a site's robots.txt disallows, too")
COMMAND.setting("--proxy-url", metavar="URL", help="an HTTP proxy to go through")
COMMAND.setting("--allow-private-ips", action="store_true", help="read from this machine and private networks, too")
COMMAND.setting("--allow-loopback", action="store_true", help="read from this machine, too")
COMMAND.setting("--timeout", type=float, metavar="SECONDS", help="how long reading a page may take (30)")
COMMAND.setting("--max-bytes", type=int, metavar="N", help="how much of a page is read (5242880)")
COMMAND.setting(
    "--type",
    dest="types",
    action="append",
    metavar="TYPE",
    help="a content type to read, such as text/*, instead of all kinds of text; repeatable",
)

if __name__ == "__main__":
    sys.exit(COMMAND.main())
