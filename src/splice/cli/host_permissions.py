"""`splice host permissions`: which lasting rules there are, and taking one back. Nothing is started."""

import time

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Lazy, Refused, Row, note, print_json
from splice.cli.host_files import Known, config_option, known
from splice.cli.host_table import table
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.host.asking.permissions import Permissions
from splice.host.board import Board
from splice.host.items import Notice, Rule
from splice.host.text import listed, one_line

command = Lazy(
    name="permissions",
    help="List and revoke lasting rules: what is allowed, asked about or denied, always.",
    table={
        "list": Row("splice.cli.host_permissions:list_", "List the rules."),
        "revoke": Row("splice.cli.host_permissions:revoke", "Take rules back, by what they are about or by their ids."),
    },
)


@click.command()
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option("--no-header", is_flag=True, help="Leave out the headings.")
@debug_option
def list_(configs: tuple[str, ...], as_json: bool, no_header: bool) -> int:
    """List the rules that hold in all chats. One that no longer counts says why."""
    rules = _rules(_permissions(known(configs)))
    if as_json:
        print_json({"ok": True, "rules": [_described(each) for each in rules]})
        return OK
    if not rules:
        note("there are no lasting rules: everything is asked about")
        return OK
    rows = [[each.effect, one_line(each.what), _day(each.made), str(each.uses), _id(each), each.void] for each in rules]
    marks = [("✕", "red") if each.void else ("○", "dim") for each in rules]
    headings = ("Effect", "About", "Since", "Uses", "Id", "No longer counts")
    table(headings, rows, marks=marks, has_header=not no_header)
    return OK


@click.command()
@click.argument("rules", nargs=-1, required=True, metavar="RULE...")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print what was revoked as JSON.")
@debug_option
def revoke(rules: tuple[str, ...], configs: tuple[str, ...], as_json: bool) -> int:
    """Take rules back. RULE is an id, or what rules are about: travel/bookTrip, 'travel/*', 'sampling travel'."""
    permissions = _permissions(known(configs))
    found = [each for rule in rules for each in _found(permissions, rule)]
    for each in {rule.id: rule for rule in found}.values():
        try:
            permissions.revoke(each.id)
        except OSError as error:
            raise Refused(FAILED, f"the rule about {each.what} cannot be revoked: {error}") from error
        if not as_json:
            print(f"revoked: {each.effect} {one_line(each.what)}")
    if as_json:
        print_json({"ok": True, "revoked": [_described(each) for each in found]})
    return OK


def _permissions(here: Known) -> Permissions:
    """Read the rules. Raises `Refused` for a file that cannot be read."""
    board = Board()
    servers = {each.name: each.fingerprint for each in here.found.entries}
    permissions = Permissions(
        board, here.places.config / "permissions.json", identity=lambda name: servers.get(name, "")
    )
    for problem in board.all(Notice):
        raise Refused(FAILED, problem.text)
    return permissions


def _rules(permissions: Permissions) -> list[Rule]:
    return sorted(permissions.all(), key=lambda each: (each.what, each.effect))


def _found(permissions: Permissions, wanted: str) -> list[Rule]:
    """Find rules by what they are about, or one by its id. Raises `Refused`."""
    rules = _rules(permissions)
    found = [each for each in rules if wanted in (each.what, _id(each), each.id)]
    if not found:
        told = f"there is no rule {one_line(wanted)!r}"
        known_ = [each.what for each in rules]
        raise Refused(USAGE, listed(told, known_) if known_ else told, attempt="splice host permissions list")
    return found


def _id(rule: Rule) -> str:
    return rule.id.removeprefix("rule:")


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))


def _described(rule: Rule) -> dict[str, object]:
    told = {"id": _id(rule), "effect": rule.effect, "what": rule.what, "made": rule.made}
    return {**told, "uses": rule.uses, "used": rule.used, "void": rule.void}
