"""`splice demo`: the travel example in the host, with a model that is no AI: offline, on a fresh machine.

The example lies in `examples/travel/` of a checkout, and in `splice/examples/travel/` of an installed package.
"""

import asyncio
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

import splice
from splice.cli.host_failing import Refused
from splice.cli.outcomes import FAILED, USAGE, Stop

PACKAGE = "splice_travel"
"""The name that the example is imported under, which nobody else uses."""

PLACES = ("examples/travel", "../../examples/travel")
"""Where it lies, seen from the package."""


@click.command()
@click.option("--web", is_flag=True, help="Open it on a web page of this machine.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Of the page; 0: any free one."
)
@click.option("--no-browser", is_flag=True, help="Open no browser, only say the address.")
@click.option("--plain", is_flag=True, help="At the terminal, one line for each event.")
@click.option("--json", "as_json", is_flag=True, help="Print what happened as JSON, and nothing else.")
@click.option("--no-input", is_flag=True, help="Answer all questions by policy, without asking you.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Keep chat, log, bookings and mails there; else they go."
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def command(*, no_input: bool, folder: Path | None, no_browser: bool, **given: Any) -> int:
    """Plan a journey to Barcelona with three servers, over stdio and HTTP and in both eras.

    No AI runs: the demo model follows rules, and says so. At a terminal, and on the page, you are asked; elsewhere a
    policy answers, and the demo ends by itself.
    """
    if given["web"] and (given["as_json"] or no_input):
        raise Stop(USAGE, "--web opens a page that asks you: leave out --json and --no-input, or --web")
    is_there = sys.stdin.isatty() and sys.stdout.isatty() and not no_input and not given["as_json"]
    playing, travel, processes = import_module("splice.cli.demo_playing"), part("hosted"), part("processes")
    with TemporaryDirectory(prefix="splice-travel-") as made:
        kept = (folder or Path(made)).resolve()
        wanted = playing.Wanted(
            folder=kept, is_kept=folder is not None, place=place_of(_folder()), opens=not no_browser, **given
        )
        work = playing.play(travel, wanted, is_watched=is_there or given["web"])
        try:
            code: int = asyncio.run(work if given["web"] else processes.until_told(work))  # the page hears signals
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None  # SIGTERM, or the terminal is gone
        except Refused as refused:
            raise Stop(refused.code, f"{refused}: {refused.mend}" if refused.mend else str(refused)) from refused
    return code


def _folder() -> Path:
    """Find the example. Raises `Stop`."""
    for place in PLACES:
        folder = Path(splice.__file__).parent / place
        if (folder / "hosted.py").is_file():
            return folder.resolve()
    raise Stop(FAILED, "the travel example is not here: neither in a checkout nor in the installed package")


def place_of(folder: Path) -> str:
    """Write a folder as the user would."""
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)


def part(name: str) -> Any:
    """Import a module of the example, as a part of its package. Raises `Stop`."""
    folder = _folder()
    if PACKAGE not in sys.modules:
        found = [str(folder)]
        spec = spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=found)
        if spec is None or spec.loader is None:
            raise Stop(FAILED, f"{folder} is not a Python package")
        sys.modules[PACKAGE] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    try:
        return import_module(f"{PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        needed = (error.name or PACKAGE).partition(".")[0]
        if needed in {PACKAGE, "splice"}:
            raise
        raise Stop(FAILED, f"the demo needs {needed}: pip install 'splice[demo]'") from error
