"""Starts the program that writes HTML as Markdown, and ends it when it takes too long."""

import asyncio
import sys

SECONDS = 20.0
"""How long converting a page may take. One of a megabyte takes three."""

AT_ONCE = 4
"""How many pages are converted at the same time; others wait."""

PROGRAM = "splice.servers.fetch.markdown"


class Converter:
    """Writes pages as Markdown, each in a process of its own."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(AT_ONCE)

    async def convert(self, html: str, url: str) -> str | None:
        """Write a page as Markdown; None when that is too much work."""
        async with self._free:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", PROGRAM),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                async with asyncio.timeout(self._seconds):
                    told, _ = await process.communicate(f"{url}\n{html}".encode())
                return told.decode() if process.returncode == 0 else None
            except TimeoutError:
                return None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
