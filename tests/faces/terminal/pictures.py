"""Pictures of the terminal app for the documentation: `PYTHONPATH=tests python tests/faces/terminal/pictures.py docs`.

The argument is the folder of the documentation; a person looks at the pictures before they are kept.
"""

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path

from faces.terminal.acting import acting
from support import scenes
from support.stage import Stage

SIZE = (92, 26)

PICTURES: dict[str, tuple[Callable[[Stage], None], tuple[str, ...]]] = {
    "chat": (scenes.mid_turn, ()),
    "approval": (scenes.mid_turn, ("ctrl+o",)),
    "form": (scenes.form, ("ctrl+o",)),
    "servers": (scenes.crashed, ("f3", "down", "down")),
    "tools": (scenes.changed_tool, ("f4",)),
    "resources": (scenes.resources, ("f5", "down", "enter")),
}
"""By name: what is on the board, and the keys that are pressed."""

_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def small(svg: str) -> str:
    """Take out fonts that would be loaded, the frame's buttons, and names that differ from run to run."""
    svg = _FONT.sub("", svg).replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")
    svg = re.sub(r'<g transform="translate\(26,22\)">.*?</g>', "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


async def draw(folder: Path) -> None:
    for name, (scene, keys) in PICTURES.items():
        async with acting(scene, SIZE) as person:
            await person.press(*keys)
            await person.pilot.pause(0.4)
            path = folder / f"terminal-{name}.svg"
            path.write_text(small(person.app.export_screenshot(title="splice host chat")), encoding="utf-8")
            sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    pictures = Path(sys.argv[1]) / "host" / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    asyncio.run(draw(pictures))
