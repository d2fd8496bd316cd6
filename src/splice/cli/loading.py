"""The server in a Python file: `server.py`, or `server.py:name`. Finding it, and running it on stdin and stdout."""

import sys
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from splice import Server
from splice.cli.outcomes import FAILED, USAGE, Stop


def split(target: str) -> tuple[str, str | None]:
    """Split `FILE[:object]`. Only what ends in `.py` is a file, so a drive letter is none."""
    file, _, name = target.rpartition(":")
    return (file, name) if file.endswith(".py") else (target, None)


def load_server(target: str) -> Server:
    """Import the file and return the server in it. Raises `Stop`."""
    file, name = split(target)
    module = _import(Path(file))
    return _only_server(module, file) if name is None else _named_server(module, file, name)


def run_file(target: str) -> None:
    """Serve the server in a file on stdin and stdout; tell who waits at a terminal what this is."""
    server = load_server(target)
    if sys.stdin.isatty():
        print(
            f"{server.name} waits for a client on stdin. Try: splice list {target} (Ctrl-C ends this)", file=sys.stderr
        )
    server.run()


def _import(path: Path) -> ModuleType:
    """Import a file under its own name, as if Python had been started with it; its prints go to stderr."""
    if not path.is_file():
        raise Stop(USAGE, f"there is no file {str(path)!r}" + ("" if path.suffix else "; a server is a .py file"))
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_server"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Stop(USAGE, f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except Exception as error:
        raise Stop(FAILED, f"{path} does not load: {_told(error, path)}") from error
    except SystemExit as error:
        raise Stop(
            FAILED,
            f"{path} ended itself while it was loaded; put what runs the server under `if __name__ == '__main__':`",
        ) from error
    return module


def _told(error: Exception, path: Path) -> str:
    """Tell an error in one line, with the last line of the file that had a part in it."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if Path(frame.filename) == path]
    number = error.lineno if isinstance(error, SyntaxError) else (lines[-1] if lines else None)
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    where = "" if number is None else f" (line {number}; --debug shows more)"
    return f"{type(error).__name__}: {said}{where}"


def _only_server(module: ModuleType, file: str) -> Server:
    found = {id(value): name for name, value in reversed(vars(module).items()) if isinstance(value, Server)}
    if not found:
        raise Stop(
            USAGE,
            f"{file} has no splice.Server at its top level; if it is a server of another kind, "
            f"run it as a command: `-- python {file}`",
        )
    if len(found) > 1:
        names = sorted(found.values())
        raise Stop(USAGE, f"{file} has several servers: {', '.join(names)}; say which, as in {file}:{names[0]}")
    server: Server = getattr(module, next(iter(found.values())))
    return server


def _named_server(module: ModuleType, file: str, name: str) -> Server:
    value: object = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if isinstance(value, Server):
        return value
    servers = sorted(each for each, found in vars(module).items() if isinstance(found, Server))
    known = f"; there is {', '.join(servers)}" if servers else ""
    problem = "has no" if value is None else "has something else than a splice.Server under"
    raise Stop(USAGE, f"{file} {problem} {name!r}{known}")
