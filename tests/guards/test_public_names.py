"""What `splice` shows: exactly `__all__`, imported when asked for, and light."""

import ast
import importlib
import json
import subprocess
import sys

import pytest

import splice
from guards.source import PACKAGE, ROOT
from support.tables import rows

HEAVY = ["uvicorn", "aiohttp", "jsonschema_rs", "cryptography", "joserfc", "click", "rich", "pydantic", "starlette"]
MODULES = 120


def typing_twin() -> dict[str, str]:
    """Name -> module, as the `if TYPE_CHECKING:` block of the package says."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    guarded = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    imports = [node for block in guarded for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: str(node.module) for node in imports for alias in node.names}


def modules_after(code: str) -> list[str]:
    """Modules beyond the standard library that `code` loads in a fresh interpreter."""
    script = f"""
import sys
before = set(sys.modules)
{code}
import json
roots = sys.stdlib_module_names
print(json.dumps(sorted(m for m in set(sys.modules) - before if m.partition(".")[0] not in roots)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    found: list[str] = json.loads(done.stdout)
    return found


def test_all_is_sorted_and_says_what_type_checkers_see() -> None:
    assert list(splice.__all__) == sorted(splice.__all__)
    assert set(splice.__all__) - {"__version__"} == set(typing_twin())


def test_dir_shows_all() -> None:
    assert {name for name in dir(splice) if not name.startswith("_")} >= set(splice.__all__) - {"__version__"}


@rows(("name", "module"), typing_twin().items())
def test_a_lazy_name_is_what_the_typing_twin_says(name: str, module: str) -> None:
    assert getattr(splice, name) is getattr(importlib.import_module(module), name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_like_this"):
        splice.nothing_like_this  # noqa: B018 - the access is the test


def test_importing_the_package_loads_nothing_else() -> None:
    assert modules_after("import splice") == ["splice"]


def test_importing_the_server_loads_no_web_stack() -> None:
    loaded = modules_after("from splice import Server")
    assert len(loaded) < MODULES
    assert [name for name in loaded if name.partition(".")[0] in HEAVY] == []


PLAIN = {
    "the package": "import splice; dir(splice); [getattr(splice, name) for name in splice.__all__]",
    "a server": """
import asyncio, splice
server = splice.Server("a")
server.add_tool(lambda: "x", name="b")
async def main():
    async with splice.Client(server) as client:
        await client.call_tool("b")
asyncio.run(main())
""",
    "a server over HTTP": f"""
import asyncio, sys, splice
sys.path.insert(0, {str(ROOT / "tests")!r})
from support.listening import listening
server = splice.Server("a")
server.add_tool(lambda: "x", name="b")
app = server.http_app()
async def main():
    await server.service.open()
    async with listening(app) as url, splice.Client(url) as client:
        await client.call_tool("b")
    await server.service.close()
asyncio.run(main())
""",
}


@pytest.mark.parametrize("name", PLAIN)
def test_what_needs_no_authorization_loads_none_of_it(name: str) -> None:
    assert [module for module in modules_after(PLAIN[name]) if module.startswith("splice.auth")] == []
