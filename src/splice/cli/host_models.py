"""`splice host models`: which models can be chosen, where they are, and which one is."""

import asyncio
import os

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import note, print_json, warn
from splice.cli.host_table import table
from splice.cli.outcomes import OK
from splice.host.board import Board
from splice.host.items import Model
from splice.host.models.base import ModelFailed
from splice.host.models.catalogue import Catalogue
from splice.host.places import places
from splice.host.settings import Settings
from splice.host.text import one_line


@click.command()
@click.option("--find", is_flag=True, help="Look for programs on this computer that serve models, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option("--no-header", is_flag=True, help="Leave out the headings.")
@debug_option
def command(find: bool, as_json: bool, no_header: bool) -> int:
    """List the models that can be chosen. One whose key is not in the environment is not listed."""
    board = Board()
    settings = Settings(places().config / "settings.json")
    catalogue = Catalogue(board, settings.values().get("models") or [], os.environ)
    if find:
        asyncio.run(catalogue.find())
    for problem in (*settings.problems, *catalogue.problems):
        warn(problem)
    if settings["model"]:
        _choose(catalogue, settings["model"])
    models = board.all(Model)
    if as_json:
        print_json({"ok": True, "models": [_described(each) for each in models]})
        return OK
    rows = [[_id(each), one_line(each.label), one_line(each.where), f"{each.window:,}"] for each in models]
    marks = [("●", "green") if each.is_chosen else ("○", "dim") for each in models]
    table(("Model", "Name", "Where", "Window"), rows, marks=marks, has_header=not no_header)
    if not any(each.is_ai for each in models):
        note("set OPENAI_API_KEY or ANTHROPIC_API_KEY for a model that is an AI, or look for one here: --find")
    return OK


def _choose(catalogue: Catalogue, id: str) -> None:
    """Mark the model that the user chose last."""
    try:
        catalogue.choose(id)
    except ModelFailed as error:
        warn(error.message)


def _id(model: Model) -> str:
    return one_line(model.id.removeprefix("model:"))


def _described(model: Model) -> dict[str, object]:
    told = {"id": _id(model), "label": model.label, "is_ai": model.is_ai, "where": model.where}
    return {**told, "window": model.window, "is_chosen": model.is_chosen}
