"""Floor of a call within one process: encode, decode, add, encode, decode, and nothing else."""

import asyncio

import msgspec

from bench.clients.loop import options, report
from bench.servers.answers import answer
from bench.wire import PLACE, tool_call

TEMPLATE = tool_call("add", "modern") % PLACE
MESSAGE = msgspec.json.decode(TEMPLATE)


async def call() -> str:
    reply = msgspec.json.decode(answer(msgspec.json.encode(MESSAGE)))
    return str(reply["result"]["content"][0]["text"])


if __name__ == "__main__":
    asyncio.run(report(call, options()))
