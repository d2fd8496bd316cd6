"""`splice run`: run the server in a Python file."""

import click

from splice.cli.loading import load_server, run_file
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.reaching import files


@click.command(epilog="`splice run FILE` is what a host starts: it speaks MCP over stdin and stdout.")
@click.argument("target", metavar="FILE[:NAME]", shell_complete=files)
@click.option("--http", is_flag=True, help="Serve HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--path", default="/mcp", show_default=True, help="The MCP endpoint's path.")
@click.option("--allowed-host", multiple=True, help="A Host header to accept; needed beyond this machine. Repeatable.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
@click.pass_context
def command(
    context: click.Context, target: str, http: bool, host: str, port: int, path: str, allowed_host: tuple[str, ...]
) -> int:
    """Run the server in a Python file, on stdin and stdout or as a web server.

    OBJECT names the server when the file holds several.
    """
    if not http:
        _refuse_http_options(context)
        run_file(target)
        return OK
    server = load_server(target)
    try:
        server.run("http", host=host, port=port, path=path, allowed_hosts=allowed_host or None)
    except ValueError as error:
        raise Stop(USAGE, f"{error} (--allowed-host)" if "allowed_hosts" in str(error) else str(error)) from error
    except OSError as error:
        raise Stop(FAILED, error.strerror or str(error)) from error
    return OK


def _refuse_http_options(context: click.Context) -> None:
    for name in ("host", "port", "path", "allowed_host"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --http", context)
