"""Calls a server many times at once, on a new connection for each request: `python client.py URL`."""

import asyncio
import sys

from splice import Client, HTTPServer

CALLS = 20


async def main(url: str) -> None:
    """Answer the question of each call."""
    target = HTTPServer(url, headers={"Connection": "close"})
    async with Client(target, on_elicit=lambda _: {"value": "Ann"}, protocol="modern", timeout=20.0) as client:
        signed = await asyncio.gather(*(client.call_tool("sign") for _ in range(CALLS)))
    processes = [each.text.split()[1:] for each in signed]
    print("signed:", sum(each.text.startswith("Ann") for each in signed))
    print("answered by another process than the one that asked:", sum(first != then for first, then in processes))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
