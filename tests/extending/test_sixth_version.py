"""A further protocol version, with a new field and an error code that changed, takes changes in two files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import splice

NEXT = "2027-01-15"

CHANGES = {
    "protocol/versions.py": [
        ('V2026_07_28 = "2026-07-28"\n', f'V2026_07_28 = "2026-07-28"\nV2027_01_15 = "{NEXT}"\n'),
        ("MODERN_VERSIONS = (V2026_07_28,)", "MODERN_VERSIONS = (V2026_07_28, V2027_01_15)"),
        (')\n"""The codes', '    (errors.RESOURCE_NOT_FOUND, (Until(V2026_07_28),), -32077),\n)\n"""The codes'),
    ],
    "protocol/prompts.py": [
        ("import V2025_06_18, ", "import V2027_01_15, V2025_06_18, "),
        ("from splice.protocol.wire import ", "from splice.protocol.wire import Icon, "),
        (
            '    """The prompt cannot do without. False when absent."""\n',
            (
                '    """The prompt cannot do without. False when absent."""\n\n'
                "    icons: Annotated[list[Icon] | None, Since(V2027_01_15)] = None\n"
            ),
        ),
    ],
}

PROGRAM = """
import asyncio
from splice import Client, RPCError, Server
from splice.types import Icon, ListPromptsResult

async def picture(call, proceed):
    result = await proceed(call)
    if isinstance(result, ListPromptsResult):
        result.prompts[0].arguments[0].icons = [Icon(src="https://example.com/a.png")]
    return result

server = Server("next", middleware=[picture])

@server.prompt
def review(code: str) -> str:
    return code

async def look(**options):
    async with Client(server, **options) as client:
        (prompt,) = await client.list_prompts()
        try:
            await client.read_resource("none://such")
        except RPCError as error:
            return client.protocol_version, prompt.arguments[0].icons is not None, error.code

@server.resource("some://such")
def some() -> str:
    return ""

async def main():
    print(await look(), await look(protocol="2026-07-28"), await look(protocol="2025-11-25"))

asyncio.run(main())
"""


def test_it_takes_two_files(tmp_path: Path) -> None:
    package = tmp_path / "splice"
    shutil.copytree(Path(splice.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in CHANGES.items():
        text = (package / name).read_text()
        for old, new in changes:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (package / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    assert (
        done.stdout.strip() == f"('{NEXT}', True, -32077) ('2026-07-28', False, -32602) ('2025-11-25', False, -32002)"
    )
