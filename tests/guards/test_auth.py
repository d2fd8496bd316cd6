"""What holds all over `splice.auth`: how secrets are compared, and who speaks with other machines."""

import ast
import re
from collections.abc import Iterator

from guards.source import Source, sources

SECRET = re.compile(
    r"(?:^|_)(?:secret|token|password|verifier|challenge|digest|hash|hashed|signature|cookie|mark|mac|nonce|state|code"
    r"|assertion|current|former|jkt)(?:_|$)"
)
"""Names of what only some may know, or of what was made of it."""

ALIKE = {
    "auth/issuer/authentication.py: form.get('client_assertion_type') != ASSERTION": "a kind, not an assertion",
    "auth/issuer/grants.py: form.get('redirect_uri') != code.redirect_uri": "an address, which is no secret",
    "auth/issuer/grants.py: terms.jkt != jkt": "the thumbprint of a public key, whose proof was checked",
    "auth/issuer/signing.py: await self._users.mark(visitor.user) != visitor.mark": "hashes; the cookie was checked",
    "auth/login/authorizer.py: grant.access_token == self._ahead_of": "our own token with itself: no peer waits",
    "auth/login/code.py: error.code == _UNKNOWN_CLIENT": "the name of an error",
    "auth/login/device.py: code == UNAVAILABLE": "the name of an error",
    "rules/seal.py: _to_text(token) == text": "how a sealed text is spelled, before it is opened",
}
"""Comparisons of two things that are no literals, with such a name, and why how long they take tells nothing."""

SPEAKS = {
    "auth/fetcher.py": "the guarded fetcher",
    "auth/hosts.py": "looks names up for both fetchers",
    "auth/web.py": "the guarded fetcher for the tools of servers",
    "auth/login/callback.py": "listens on this machine for a browser to come back",
}
NETWORK = re.compile(
    r"(socket|ssl|aiohttp|httpx|requests|urllib3|urllib\.request|http\.client|splice\.transports\.http\.fetch)(\.|$)"
)


def guarded() -> list[Source]:
    return [source for source in sources() if source.layer == "auth" or source.name == "rules/seal.py"]


def names_in(node: ast.expr) -> Iterator[str]:
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                yield name.strip("_")
            case _:
                pass


def is_literal(node: ast.expr) -> bool:
    return not any(isinstance(each, ast.Name) for each in ast.walk(node))


def comparisons() -> Iterator[str]:
    """Find what is compared byte by byte, and is or may be a secret."""
    for source in guarded():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Compare) and any(isinstance(each, ast.Eq | ast.NotEq) for each in node.ops):
                sides = [node.left, *node.comparators]
                if not any(map(is_literal, sides)) and any(
                    SECRET.search(name) for it in sides for name in names_in(it)
                ):
                    yield f"{source.name}: {ast.unparse(node)}"


def test_secrets_are_compared_in_constant_time() -> None:
    """By `hmac.compare_digest`; or they are not compared at all, but looked up by their hash."""
    assert sorted(set(comparisons())) == sorted(ALIKE)


def test_only_the_fetcher_speaks_with_other_machines() -> None:
    """They refuse addresses that are not public; another way out would not."""
    found = {
        source.name
        for source in sources()
        if source.layer == "auth"
        if any(NETWORK.match(each.module) for each in source.imports() if not each.typing_only)
    }
    assert found - {"auth/login/authorizer.py"} == set(SPEAKS)  # which gets tokens into requests that others send


def test_connections_are_opened_nowhere_else() -> None:
    for source in sources():
        if source.layer == "auth" and source.name not in SPEAKS:
            called = {each.attr for each in ast.walk(source.tree) if isinstance(each, ast.Attribute)}
            assert not called & {"open_connection", "create_connection", "create_server", "start_server", "urlopen"}
