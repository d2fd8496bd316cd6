"""`splice demo`: the travel example, walked through by its client before your eyes.

The example lies in `examples/travel/` of a checkout, and in `splice/examples/travel/` of an installed package.
"""

import os
import shutil
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import click

import splice
from splice import MCPError
from splice.cli.asking import has_terminal
from splice.cli.outcomes import FAILED, OK, Stop
from splice.cli.reaching import told

PACKAGE = "splice_travel"
"""The name that the example is imported under, which nobody else uses."""

PLACES = ("examples/travel", "../../examples/travel")
"""Where it lies, seen from the package."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what was seen as JSON, and nothing else.")
@click.option("--no-input", is_flag=True, help="Answer the servers' questions without asking you.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def command(as_json: bool, no_input: bool) -> int:
    """Show what Splice does: three servers, both eras, stdio and HTTP, and one journey to Barcelona.

    On a terminal the servers' questions are put to you; elsewhere the demo answers them, and ends by itself.
    """
    is_there = has_terminal() and sys.stdout.isatty() and not no_input and not as_json
    client = _client()
    try:
        problems: list[str] = client.show(as_json=as_json, is_there=is_there)
    except MCPError as error:
        raise Stop(FAILED, f"the demo failed: {told(error)}") from error
    except RuntimeError as error:
        raise Stop(FAILED, f"the demo failed: {error}") from error
    if problems and not as_json:  # as JSON they are among what was seen
        raise Stop(FAILED, f"the demo went wrong: {'; '.join(problems)}")
    if not as_json:
        _farewell()
    return FAILED if problems else OK


def _folder() -> Path:
    """Find the example. Raises `Stop`."""
    for place in PLACES:
        folder = Path(splice.__file__).parent / place
        if (folder / "client.py").is_file():
            return folder.resolve()
    raise Stop(FAILED, "the travel example is not here: neither in a checkout nor in the installed package")


def _client() -> Any:
    """Import the example's client, as a part of its package. Raises `Stop`."""
    folder = _folder()
    if PACKAGE not in sys.modules:
        found = [str(folder)]
        spec = spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=found)
        if spec is None or spec.loader is None:
            raise Stop(FAILED, f"{folder} is not a Python package")
        sys.modules[PACKAGE] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    try:
        return import_module(f"{PACKAGE}.client")
    except ModuleNotFoundError as error:
        needed = (error.name or PACKAGE).partition(".")[0]
        if needed in {PACKAGE, "splice"}:
            raise
        raise Stop(FAILED, f"the demo needs {needed}: pip install 'splice[demo]'") from error


def _farewell() -> None:
    typed = sys.argv[0] if Path(sys.argv[0]).name == "splice" else "python -m splice.cli"
    program = "splice" if shutil.which("splice") else typed
    folder = _folder()
    place = os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)
    print("\nIt works. Now try:")
    for words in (
        f"list {place}/weather.py",
        f"call {place}/weather.py checkWeather city=Paris date=2027-06-15",
        f"run {place}/travel.py --http",
    ):
        print(f"  {program} {words}")
