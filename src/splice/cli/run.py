"""`splice run`: run the server in a Python file."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import click

from splice.cli.loading import greet, is_code, load_server, run_file, serve
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.reaching import files
from splice.server import running


@click.command(epilog="`splice run FILE` is what a host starts: it speaks MCP over stdin and stdout.")
@click.argument("target", metavar="FILE[:NAME]", shell_complete=files)
@click.option("--http", is_flag=True, help="Serve HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--path", default="/mcp", show_default=True, help="The MCP endpoint's path.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    help="A Host header to accept; needed beyond this machine. Repeatable.",
)
@click.option("--reload", is_flag=True, help="Start the server anew when a Python file near it changes.")
@click.option(
    "--dev",
    is_flag=True,
    help="Warn of what handlers do before they ask, and of a blocked event loop; with tracebacks.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
@click.pass_context
def command(context: click.Context, /, target: str, http: bool, reload: bool, dev: bool, **listen: Any) -> int:
    """Run the server in a Python file, on stdin and stdout or as a web server.

    NAME is that of the server where the file holds several, or of a function that makes it.
    """
    if not http:
        _refuse_http_options(context, listen)
    if not (http or reload or dev):
        run_file(target)
        return OK
    options = {**listen, "allowed_hosts": listen["allowed_hosts"] or None} if http else {}
    if reload:
        run = _with_reload(target, dev=dev)
    else:
        run = _in_development(target, http=http) if dev else load_server(target).run
    try:
        serve(run, "http" if http else "stdio", **options)
    except ValueError as error:
        raise Stop(USAGE, str(error)) from error
    except OSError as error:
        raise Stop(FAILED, error.strerror or str(error)) from error
    return OK


def _with_reload(target: str, *, dev: bool) -> Callable[..., None]:
    """Make what runs a front, with the server behind it."""
    from splice.cli.reload import Front  # noqa: PLC0415 - a server that is not watched starts without it

    if not is_code(target):
        raise Stop(USAGE, f"there is no file {target!r}; a server is a .py file, or module:name")
    return partial(running.run, Front(target, dev=dev))


def _in_development(target: str, *, http: bool) -> Callable[..., None]:
    """Load a server under watch, and make what runs it."""
    from splice.cli.dev import run, watch  # noqa: PLC0415 - a server that is not watched starts without it

    watch()
    server = load_server(target)
    if not http:
        greet(server, target)
    return partial(run, server)


def _refuse_http_options(context: click.Context, listen: Iterable[str]) -> None:
    for name in listen:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = name.removesuffix("s").replace("_", "-")
            raise click.UsageError(f"--{option} needs --http", context)
