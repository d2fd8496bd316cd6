"""`splice host log`: what happened in a session of the host, and why it was allowed; for people, or as a file."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused, note, print_json
from splice.cli.host_table import painted
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.host.places import places
from splice.host.records import exporting
from splice.host.records.activity import Record
from splice.host.telling import told
from splice.host.text import one_line

MAX_LINE = 1_000_000
MAX_CHATS = 5
"""How many chats are named to somebody who asks for one that there is not."""


@click.command()
@click.argument("chat", required=False)
@click.option("--export", "form", type=click.Choice(["jsonl", "html"]), help="Print all of it in this form.")
@click.option("--server", default="", metavar="NAME", help="Only what is about this server.")
@click.option("--kind", default="", metavar="KIND", help="Only records of this kind, such as call or answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the records as JSON, with hashes and all facts.")
@debug_option
def command(chat: str | None, form: str | None, server: str, kind: str, as_json: bool) -> int:
    """Show what happened in the last session, or in the CHAT whose id begins like this.

    Each line says why a call was allowed. Secrets that the host knows stand in no log.
    """
    of_server = [each for each in _records(chat) if not server or each.server == server]
    records = [each for each in of_server if not kind or each.kind == kind]
    if as_json:
        print_json({"ok": True, "records": [msgspec.to_builtins(each) for each in records]})
    elif form == "jsonl":
        sys.stdout.write(exporting.jsonl(records))
    elif form == "html":
        sys.stdout.write(exporting.html(records))
    else:
        for each in records:
            print(_line(each))
        if not records:
            kinds = ", ".join(sorted({one_line(each.kind) for each in of_server}))
            note(f"nothing of that is in the log{f'; there are {kinds}' if kinds else ''}")
    return OK


def _records(chat: str | None) -> Iterator[Record]:
    """Read the records of the last session, or of a chat, the oldest first. Raises `Refused`."""
    folder = places().state / "activity"
    try:
        files = sorted(folder.glob("*.jsonl"), key=lambda each: (each.stat().st_mtime_ns, each.name))
    except OSError as error:
        raise Refused(FAILED, f"{folder} cannot be read: {error.strerror}") from error
    if not files:
        raise Refused(USAGE, "there is no log yet", attempt="splice host chat")
    if chat is None:
        return _read(files[-1])
    logged = [each for file in files for each in _read(file) if each.chat]
    found = [each for each in logged if each.chat.startswith(chat)]
    if not found:
        last = list(dict.fromkeys(one_line(each.chat) for each in reversed(logged)))[:MAX_CHATS]
        there = f"the last ones are {', '.join(last)}" if last else ""
        raise Refused(USAGE, f"nothing is logged of a chat {one_line(chat)}", mend=there)
    return iter(found)


def _read(path: Path) -> Iterator[Record]:
    """Yield the records of a file; lines that cannot be read are left out."""
    decoder = msgspec.json.Decoder(Record)
    try:
        with path.open("rb") as file:
            while line := file.readline(MAX_LINE):
                try:
                    yield decoder.decode(line)
                except (msgspec.DecodeError, RecursionError):
                    continue
    except OSError as error:
        raise Refused(FAILED, f"{path} cannot be read: {error.strerror}") from error


def _line(record: Record) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(record.at))
    where = one_line(record.server) or "\u2013"
    words = told(record.kind, record.facts, record.turn).whole
    return f"{painted(at, 'dim', sys.stdout)}  {one_line(record.kind):<11} {where:<12} {words}".rstrip()
