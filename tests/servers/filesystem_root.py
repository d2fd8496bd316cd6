"""The directory that the original of the filesystem server was recorded on, and one call on a server of it."""

from pathlib import Path
from typing import Any

from splice import Client, Server
from splice.types import CallToolResult

FILES = {
    "a.txt": b"l1\nl2\nl3\nl4\n",
    "bin.dat": b"\0\1\xff",
    "img.png": b"\x89PNG\r\n",
    "sub/b.md": b"# b\n",
}
SECRET = "nobody outside may read this"


def laid_out(base: Path) -> Path:
    """Make the directory, beside a secret, a sibling of like name, and links that lead to them."""
    root = base / "fsroot"
    for folder in (root / "sub" / "deep", base / "fsroot-sibling"):
        folder.mkdir(parents=True)
    for name, data in FILES.items():
        (root / name).write_bytes(data)
    for name in ("secret.txt", "fsroot-sibling/x"):
        (base / name).write_text(SECRET)
    (root / "evil").symlink_to("/etc/passwd")
    (root / "evildir").symlink_to("/etc")
    return root


async def call(server: Server, tool: str, /, *, protocol: Any = "modern", **arguments: Any) -> CallToolResult:
    """Call one tool once."""
    async with Client(server, protocol=protocol) as client:
        return await client.call_tool(tool, arguments)


def handles() -> int:
    """Count the open file handles of this process."""
    return len(names(Path("/dev/fd")))


def names(directory: Path) -> list[str]:
    """List what is in a directory."""
    return sorted(each.name for each in directory.iterdir())
