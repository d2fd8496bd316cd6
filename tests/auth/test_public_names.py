"""What `splice.auth` shows, and what `help()` tells of it."""

import ast
import importlib
import re
from typing import Any

import pytest

import splice.auth
from guards.source import PACKAGE


def typing_twin() -> dict[str, str]:
    """Name -> module, as type checkers see it."""
    tree = ast.parse((PACKAGE / "auth/__init__.py").read_text())
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    found = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in found for alias in node.names}


def test_type_checkers_and_programs_see_the_same_names() -> None:
    assert dir(splice.auth) == sorted(typing_twin())
    for name, module in typing_twin().items():
        assert getattr(splice.auth, name) is getattr(importlib.import_module(module), name)


WITH_OPTIONS = (
    *("Auth", "IntrospectionVerifier", "JWTVerifier", "LocalAuthorizationServer", "OAuth", "OAuthProxy"),
    *("ClientCredentials", "EnterpriseManaged", "WorkloadIdentity", "DeviceCode"),
)


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_the_options_of_a_class_can_be_imported(name: str) -> None:
    """Who passes them on names them: `**options: Unpack[AuthOptions]`."""
    hint: Any = getattr(splice.auth, name).__init__.__annotations__["options"]
    options = hint.__args__[0]
    assert getattr(splice.auth, options.__name__) is options


def test_help_lists_the_options_of_an_authorization_server() -> None:
    told = splice.auth.LocalAuthorizationServer.__doc__ or ""
    for name in splice.auth.IssuerOptions.__annotations__:
        assert re.search(rf"\b{name}\b", told), name
