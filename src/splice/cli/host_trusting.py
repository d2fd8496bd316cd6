"""`splice host mcp trust`: look at the exact command of a project's server, all of it, and trust it or not."""

import sys
from collections.abc import Iterable

import click

from splice.cli.asking import has_terminal
from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused, print_json
from splice.cli.host_files import Known, config_option, known, quoted
from splice.cli.host_table import painted
from splice.cli.outcomes import DENIED, FAILED, OK, USAGE
from splice.host.config.entries import Entry
from splice.host.connecting.trust import Trusted
from splice.host.text import one_line
from splice.host.tools.words import Budget, compare

LEAST_DIGITS = 12
"""How much of a fingerprint has to be said."""


@click.command()
@click.argument("name")
@click.option("--yes", metavar="FINGERPRINT", help="Trust the command of this fingerprint, unasked: `get` shows it.")
@config_option
@click.option("--withdraw", is_flag=True, help="Trust it no more.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done, or the error, as JSON.")
@debug_option
def command(name: str, configs: tuple[str, ...], yes: str | None, withdraw: bool, as_json: bool) -> int:
    """Look at the command of a project's server, and trust it.

    A project's server is started only after that, and only by this very command: once it changes you are asked again.
    """
    here = known(configs)
    entry, trusted = here.entry(name), Trusted(here.places.state / "trust.json")
    if entry.problem:
        raise Refused(USAGE, f"{entry.name} cannot be used: {entry.problem}")
    if not entry.needs_trust:
        return _said(entry, "it is your own, and needs no trust", as_json=as_json)
    try:
        if withdraw:
            trusted.take(entry)
            return _said(entry, "it is not trusted any more", as_json=as_json)
        if trusted.is_trusted(entry):
            return _said(entry, "it is trusted already", as_json=as_json)
        if not as_json:
            show(entry, trusted.before(entry), here)
        _decide(entry, yes)
        trusted.give(entry)
    except OSError as error:
        raise Refused(FAILED, f"your trust could not be kept: {error.strerror or error}") from error
    return _said(entry, "it is trusted", as_json=as_json)


def show(entry: Entry, before: list[str] | None, here: Known) -> None:
    """Show on stderr all that decides what is run."""
    err = sys.stderr
    verb = "be sent what you say" if entry.url else "run as you, with all that you may do"
    print(f"{here.shown(entry.source)} wants {entry.name} to {verb}:", file=err)
    for word in entry.words:
        print(f"    {one_line(word)}", file=err)
    if before is not None:
        print("you trusted it as another command; what is gone, and what is new:", file=err)
        print(f"    {marked(compare(' '.join(before), ' '.join(entry.words), Budget()))}", file=err)
    facts = {
        "in": one_line(entry.cwd) or ("" if entry.folder is None or entry.url else str(entry.folder)),
        "gets": ", ".join(entry.variables),
        "not done": "; ".join(entry.ignored),
        "fingerprint": entry.fingerprint[:16],
    }
    for title, text in facts.items():
        if text:
            print(f"  {title:<12} {one_line(text)}", file=err)


def marked(words: Iterable[tuple[str, str]]) -> str:
    """Write what changed, word by word: what is gone, and what is new, in marks and in colours."""
    styles = {" ": "", "-": "red", "+": "green"}
    told = ((mark, one_line(text)) for mark, text in words if text)
    shown = (painted(text if mark == " " else f"[{mark}{text}{mark}]", styles[mark], sys.stderr) for mark, text in told)
    return " ".join(shown)


def decide(fingerprint: str, yes: str | None, *, attempt: str, other: str, waits: str, question: str, no: str) -> None:
    """Let the user say yes to what has this fingerprint, or take what the command line says. Raises `Refused`.

    `other` is said where it has another fingerprint, `waits` where nobody is here to ask, and `no` after a no.
    """
    attempt = f"{attempt} --yes {fingerprint[:16]}"
    if yes is not None:
        if len(yes) < LEAST_DIGITS or not fingerprint.startswith(yes):
            raise Refused(DENIED, other, mend=f"look at it; at least {LEAST_DIGITS} digits are needed", attempt=attempt)
        return
    if not has_terminal():
        raise Refused(DENIED, f"{waits}, and nobody is here to ask", attempt=attempt)
    if not click.confirm(question, err=True):
        raise Refused(DENIED, no)


def _decide(entry: Entry, yes: str | None) -> None:
    decide(
        entry.fingerprint,
        yes,
        attempt=f"splice host mcp trust {quoted(entry.name)}",
        other=f"{entry.name} has another command than the one of this fingerprint",
        waits=f"{entry.name} is not trusted",
        question="Trust this command?",
        no=f"{entry.name} is not trusted, so it is not started",
    )


def _said(entry: Entry, word: str, *, as_json: bool) -> int:
    told = {"ok": True, "name": entry.name, "what": word, "fingerprint": entry.fingerprint}
    print_json(told) if as_json else print(f"{entry.name}: {word}.")
    return OK
