"""The server in Python code: `server.py`, `server.py:name`, `package.module:name`. Finding it, and running it on stdio.

A name may also be that of a function that makes the server. A file inside a package is imported as a part of it, so
that its relative imports work.
"""

import os
import re
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from splice import Server
from splice.cli.failures import trace
from splice.cli.outcomes import FAILED, USAGE, Stop
from splice.server import server as serving

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def split(target: str) -> tuple[str, str | None]:
    """Split `FILE[:name]` or `module:name`. Only what ends in `.py` is a file, so a drive letter is none."""
    place, _, name = target.rpartition(":")
    in_module = _MODULE.fullmatch(place) and _MODULE.fullmatch(name)
    return (place, name) if place.endswith(".py") or in_module else (target, None)


def is_code(target: str) -> bool:
    """Tell whether a target names Python code: a `.py` file, or something in a module."""
    place, name = split(target)
    return place.endswith(".py") or name is not None


def load_server(target: str) -> Server:
    """Import the code and return the server in it. Raises `Stop`."""
    place, name = split(target)
    with _loading(target, Path(place)):
        module = _import_module(place) if name is not None and not place.endswith(".py") else _import_file(Path(place))
        return _only_server(module, place) if name is None else _named_server(module, place, name)


def run_file(target: str) -> None:
    """Serve the server in a file on stdin and stdout."""
    server = load_server(target)
    greet(server, target)
    serve(server.run)


def greet(server: Server, target: str) -> None:
    """Tell who waits at a terminal what this is."""
    if sys.stdin.isatty():
        print(
            f"{server.name} waits for a client on stdin. Try: splice list {target} (Ctrl-C ends this)", file=sys.stderr
        )


def serve(run: Callable[..., None], *given: Any, **options: Any) -> None:
    """Run a server. Raises `Stop` with the traceback of a lifespan that failed, and what `run` raises."""
    try:
        run(*given, **options)
    except RuntimeError as error:
        if error.__cause__ is None:
            raise
        stop = Stop(FAILED, str(error))
        stop.said = trace(error.__cause__).rstrip()
        raise stop from error


@contextmanager
def _loading(target: str, path: Path) -> Generator[None]:
    """Let what the code and its child processes print go to stderr, and tell what it raises in one line."""
    try:
        with redirect_stdout(sys.stderr), _stdout_is_stderr(), _nothing_serves():
            yield
    except Stop:
        raise
    except Exception as error:
        raise Stop(FAILED, f"{target} does not load: {_told(error, path)}") from error
    except SystemExit as error:
        raise Stop(
            FAILED,
            f"{target} ended itself while it was loaded; put what runs the server under `if __name__ == '__main__':`",
        ) from error


@contextmanager
def _nothing_serves() -> Generator[None]:
    """Refuse to run a server for a while: its client would be answered on stderr."""
    serving.is_loading = True
    try:
        yield
    finally:
        serving.is_loading = False


@contextmanager
def _stdout_is_stderr() -> Generator[None]:
    """Make fd 1 stderr for a while: stdout is for the protocol, whoever writes to it."""
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


def _import_module(name: str) -> ModuleType:
    """Import a module by its name, from here or from what is installed."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise Stop(USAGE, f"there is no module {error.name!r}, neither here nor installed") from error
        raise


def _import_file(path: Path) -> ModuleType:
    """Import a file under its own name, as if Python had been started with it, or as the part of its package."""
    if not path.is_file():
        raise Stop(USAGE, f"there is no file {str(path)!r}" + ("" if path.suffix else "; a server is a .py file"))
    root, name = package_of(path.resolve())
    sys.path.insert(0, str(root))
    if name is not None:
        return import_module(name)
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_server"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Stop(USAGE, f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def package_of(path: Path) -> tuple[Path, str | None]:
    """Find the directory to import a file from, and its name there; None if it is in no package.

    A package is passed over that is hidden by an imported one of the same name.
    """
    root = path.parent
    while (root / "__init__.py").is_file() and root.name.isidentifier():
        root = root.parent
    names = path.relative_to(root).with_suffix("").parts
    top = sys.modules.get(names[0])
    hidden = top is not None and getattr(top, "__file__", None) != str(root / names[0] / "__init__.py")
    if len(names) == 1 or hidden or path.suffix != ".py":
        return path.parent, None
    return root, ".".join(names).removesuffix(".__init__")


def _told(error: Exception, path: Path) -> str:
    """Tell an error in one line, with the last line of the file that had a part in it."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if Path(frame.filename) == path.resolve()]
    lines = lines or [frame.lineno for frame in extract_tb(error.__traceback__) if Path(frame.filename) == path]
    number = error.lineno if isinstance(error, SyntaxError) else (lines[-1] if lines else None)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    where = "" if number is None else f" (line {number}; --debug shows more)"
    return f"{type(error).__name__}: {said}{where}"


def _only_server(module: ModuleType, place: str) -> Server:
    found = {id(value): name for name, value in reversed(vars(module).items()) if isinstance(value, Server)}
    if not found:
        raise Stop(
            USAGE,
            f"{place} has no splice.Server at its top level; name the function that makes it, as in {place}:make; "
            f"if it is a server of another kind, run it as a command: `-- python {place}`",
        )
    if len(found) > 1:
        names = sorted(found.values())
        raise Stop(USAGE, f"{place} has several servers: {', '.join(names)}; say which, as in {place}:{names[0]}")
    server: Server = getattr(module, next(iter(found.values())))
    return server


def _named_server(module: ModuleType, place: str, name: str) -> Server:
    value: object = module
    for part in name.split("."):
        value = getattr(value, part, None)
    made = value() if callable(value) else value
    if isinstance(made, Server):
        return made
    servers = sorted(each for each, found in vars(module).items() if isinstance(found, Server))
    known = f"; there is {', '.join(servers)}" if servers else ""
    problem = "has something else than a splice.Server under"
    if value is None:
        problem = "has no"
    elif callable(value):
        problem = f"returns a {type(made).__name__}, no splice.Server, from"
    raise Stop(USAGE, f"{place} {problem} {name!r}{known}")
