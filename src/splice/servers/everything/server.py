"""Puts the server together: its settings, and what each of the other files adds."""

from splice import Server
from splice.servers.everything import asking, changing, documents, gzipping, plain, prompts, toggles, wire
from splice.servers.everything.keeping import Kept
from splice.servers.everything.seeing import only_what_the_client_can, tell_of_subscriptions
from splice.servers.everything.sessions import remember_call

MAX_BYTES = 10 * 1024 * 1024
"""The most that is compressed, unless told otherwise."""

MAX_MILLIS = 30_000
"""How long a fetch may take, unless told otherwise."""

PACE_SECONDS = 5.0
"""Between two messages of what a toggle started, unless told otherwise."""

INSTRUCTIONS = """\
This server shows what a server can offer. Nothing in it does anything useful: use it to try out a client.

- Every tool shows one feature; its description names the feature. Tools that ask the user, ask a model or ask for
  roots are listed for clients that can answer.
- Read `demo://resource/static/document/features.md` for a table of all features and where to see each.
- `gzip-file-as-resource` keeps its result for this session, or where there are none, under a link nobody can guess.
- `toggle-simulated-logging` and `toggle-subscriber-updates` go on until they are called again.
- `trigger-long-running-operation` tells its progress and can be cancelled.
"""


def make(
    *,
    show_env: bool = False,
    pace: float = PACE_SECONDS,
    gzip_max_fetch_size: int = MAX_BYTES,
    gzip_max_fetch_time_millis: int = MAX_MILLIS,
    gzip_allowed_domains: str = "",
    gzip_allow_loopback: bool = False,
    page_size: int | None = None,
) -> Server:
    """Make the server. Raises `ValueError` for a setting that makes no sense."""
    if not 0 < pace <= 3600:
        raise ValueError("--pace is a number of seconds above 0, at most 3600")
    if page_size is not None and page_size < 1:
        raise ValueError(f"--page-size is at least 1, not {page_size}")
    domains = [name.strip().lower() for name in gzip_allowed_domains.split(",") if name.strip()]
    limits = gzipping.Limits(gzip_max_fetch_size, gzip_max_fetch_time_millis / 1000, domains, gzip_allow_loopback)
    kept, loops = Kept(), toggles.Loops(pace)
    server = Server(
        "everything",
        version="1.0.0",
        title="Everything",
        instructions=INSTRUCTIONS,
        page_size=page_size,
        lifespan=loops.life,
        middleware=[
            remember_call,
            only_what_the_client_can,
            kept.list_for_its_session,
            loops.watch,
            tell_of_subscriptions,
        ],
    )
    plain.add(server, show_env=show_env)
    gzipping.add(server, kept, limits)
    toggles.add(server, loops)
    for each in (asking, changing, wire, documents, prompts):
        each.add(server)
    server.add_source("resources", kept)
    return server
