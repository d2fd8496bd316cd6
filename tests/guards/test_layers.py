"""The dependency rule, checked: a layer imports only from the layers below it."""

from graphlib import CycleError, TopologicalSorter

import pytest

from guards.source import Import, Source, sources

CORE = {"errors", "protocol", "rules"}
SHELVES = {"schema", "stores"}
BELOW_BOTH_ENDS = CORE | SHELVES | {"transports", "auth"}

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "protocol": {"errors"},
    "rules": {"errors", "protocol"},
    "schema": CORE,
    "stores": {"errors"},
    "auth": CORE | {"stores", "transports"},
    "transports": CORE | SHELVES,
    "server": BELOW_BOTH_ENDS,
    "client": BELOW_BOTH_ENDS,
    "host": BELOW_BOTH_ENDS | {"types", "server", "client"},
    "inspector": BELOW_BOTH_ENDS | {"types", "server", "client", "host"},
    "cli": BELOW_BOTH_ENDS | {"types", "server", "client", "host", "inspector"},
    "servers": {"types", "auth"},
    "limits": {"stores"},
    "types": {"protocol"},
}
"""What each layer may import besides itself. `servers` and `limits` have the public names only."""

SEAM = {"splice.stores.base", "splice.stores.memory"}
"""What servers and transports see of the stores: they are given any other one."""

DOOR = {"splice.transports.http.fetch"}
"""What authorization sees of the transports: a way to send HTTP requests."""

OPENS = {"server/server.py", "auth/issuer/base.py"}
"""Where an author names a store, by its path: the places that may open it."""

PUBLIC_ONLY = {"servers", "limits", "host", "inspector", "cli"}
"""Layers that may say `from splice import ...`; the ones below would make a circle of it."""

ONLY_HERE = {
    "aiohttp": {"transports/http/fetch.py"},
    "uvicorn": {"transports/http/listener.py"},
    "jsonschema_rs": {"schema/validate.py"},
    "cryptography": {"rules/seal.py"},
    "psycopg": {f"servers/postgres/{name}.py" for name in ("database", "loading", "session")},
    "sqlite3": {
        "host/records/history.py",
        "stores/sqlite.py",
        "servers/sqlite/database.py",
        "servers/sqlite/gate.py",
        "servers/sqlite/watch.py",
    },
}
"""Heavy libraries, and the modules that are their only door."""

LOCAL_IMPORTS: dict[tuple[str, str], str] = {
    ("server/server.py", "splice.server.running"): "a server object that is only mounted runs nothing itself",
    ("server/running.py", "splice.transports.http.listener"): "a stdio server loads no web server",
    ("server/server.py", "splice.transports.http.app"): "a stdio server needs none of it",
    ("server/server.py", "splice.transports.http.routes"): "nor a server without routes",
    ("server/server.py", "splice.stores.opening"): "a server that keeps nothing loads no stores",
    ("server/context.py", "splice.server.sampling"): "few handlers ask a model",
    (
        "server/server.py",
        "splice.auth.guard.access",
    ): "a server whose features are for everybody loads no authorization",
    ("client/cache.py", "splice.schema.validate"): "only a tool with an output schema needs a validator",
    ("client/questions.py", "splice.schema.forms"): "only a server that asks by forms needs a validator",
    ("client/targets.py", "splice.auth.login.authorizer"): "a client without authorization loads none of it",
    ("client/targets.py", "splice.transports.http.link"): "a stdio client loads no HTTP library",
    ("rules/seal.py", "cryptography.hazmat.primitives.ciphers.aead"): "only a server that asked something seals",
    ("auth/issuer/base.py", "splice.auth.guard.jwts"): "an authorization server alone loads no guard",
    ("auth/login/signing.py", "joserfc"): "few logins sign; it takes longer to load than all the rest of a client",
    ("schema/functions.py", "splice.schema.validate"): "only values that do not fit need a validator",
    ("schema/forms.py", "splice.schema.validate"): "likewise",
    ("server/tools.py", "splice.schema.validate"): "likewise",
    ("stores/opening.py", "splice.stores.sqlite"): "a server that keeps its state in memory loads no SQLite",
}
"""(file, module) of every import inside a function outside `cli/`, with the reason."""

TREE = sources()


def target_layer(module: str) -> str | None:
    """Name the layer an import reaches into: None for other distributions, "" for the package itself."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == "splice" else None


def may_import(source: Source, found: Import) -> bool:
    target = target_layer(found.module)
    if target is None or (target == source.layer and target != ""):
        return True
    if source.layer == "":
        return found.typing_only
    return source.layer in PUBLIC_ONLY if target == "" else target in MAY_IMPORT[source.layer]


def test_a_layer_imports_only_from_the_layers_below_it() -> None:
    found = {
        f"{source.name}:{each.line} {each.module}"
        for source in TREE
        for each in source.imports()
        if not may_import(source, each)
    }
    assert found == set()


def test_servers_and_transports_see_the_seam_of_the_stores_only() -> None:
    for source in TREE:
        if source.layer in BELOW_BOTH_ENDS | {"server", "client"} and source.layer != "stores":
            found = {each.module for each in source.imports() if target_layer(each.module) == "stores"}
            seam = SEAM | {"splice.stores.opening"} if source.name in OPENS else SEAM
            assert found <= seam, f"{source.name} chooses a store"


def test_authorization_sees_one_door_of_the_transports() -> None:
    for source in TREE:
        if source.layer == "auth":
            found = {each.module for each in source.imports() if target_layer(each.module) == "transports"}
            assert found <= DOOR, f"{source.name} reaches into a transport"


def test_every_layer_has_its_rule() -> None:
    assert {source.layer for source in TREE} - {"", "__main__"} <= set(MAY_IMPORT)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Typing-only and function-local imports count: they only hide a circle."""
    graph = {source.module: {found.module for found in source.imports()} for source in TREE if source.layer != ""}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_imports_stand_at_the_top_but_for_the_named_exceptions() -> None:
    found = {
        (source.name, each.module)
        for source in TREE
        for each in source.imports()
        if each.local and source.layer != "cli"
    }
    assert found - set(LOCAL_IMPORTS) == set(), "function-local imports without a reason in LOCAL_IMPORTS"
    assert set(LOCAL_IMPORTS) - found == set(), "LOCAL_IMPORTS names imports that are gone"


@pytest.mark.parametrize("library", ONLY_HERE)
def test_a_heavy_library_has_one_door(library: str) -> None:
    users = {source.name for source in TREE for each in source.imports() if each.module.partition(".")[0] == library}
    assert users <= ONLY_HERE[library]
