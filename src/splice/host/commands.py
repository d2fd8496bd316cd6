"""The commands of the host by name, with arguments as JSON that are checked: for a face in another process.

    await carry_out(host, "cancel", {"call": "call:12"}, by="web")

Which arguments a command takes, and of which types, is read from its method, once.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

import msgspec
from msgspec import Struct

from splice.host.asked import By, Json
from splice.host.host import Host, HostError
from splice.host.text import listed, one_line
from splice.schema.schemas import cut

COMMANDS = (
    *("say", "stop", "cancel", "answer", "ended", "draft", "visit"),
    *("new_chat", "open_chat", "branch", "rename_chat", "delete_chat"),
    *("start_server", "stop_server", "restart_server", "log_in", "switch_server", "add_server", "remove_server"),
    *("look_at", "read_servers", "review_server", "importable", "import_server", "withdraw_trust", "reload"),
    *("output", "messages", "switch_tool", "accept_tool"),
    *("resources", "read", "complete", "attach", "detach", "refresh", "preview"),
    *("grant", "revoke", "restore", "add_root", "remove_root", "set", "delete_log"),
    *("choose_model", "find_models", "model_keys"),
)

MAX_SENTENCE = 1_000
"""How long it may be what is said of a command that failed: names in it are as long as a server wants."""


async def carry_out(host: Host, name: str, arguments: Mapping[str, Json], by: By) -> Json:
    """Carry out a command, and return what it returns, as JSON.

    `by` is the face; nobody can answer in the name of another. Raises `HostError`, also for arguments that do not fit.
    """
    if name not in COMMANDS:
        raise HostError(listed(f"There is no command {one_line(name)[:100]}", COMMANDS))
    given = dict(arguments)
    if name == "answer":
        given["by"] = by
    try:
        params = msgspec.convert(given, _params_of(name))
    except (ValueError, RecursionError) as error:
        raise HostError(f"{name}: {one_line(str(error))[:500]}") from error
    work: Any = getattr(host, name)
    try:
        result: Any = work(**{field: getattr(params, field) for field in params.__struct_fields__})
        return msgspec.to_builtins(await result if inspect.isawaitable(result) else result)
    except HostError as error:
        raise HostError(cut(one_line(str(error)), MAX_SENTENCE)) from error


@cache
def _params_of(name: str) -> type[Struct]:
    """Make the type of a command's arguments."""
    method: Any = getattr(Host, name)
    hints = get_type_hints(method)
    fields: list[Any] = []
    for each in list(inspect.signature(method).parameters.values())[1:]:
        kind = hints[each.name]
        fields.append((each.name, kind) if each.default is each.empty else (each.name, kind, each.default))
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)
