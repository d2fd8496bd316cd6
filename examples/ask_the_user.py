"""A tool that asks the user before it acts, in one handler for all protocol versions.

splice call examples/ask_the_user.py delete_account
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from splice import Context, Server

server = Server("accounts", version="1.0.0")
deleted: list[str] = []


@dataclass
class Farewell:
    """What we ask of somebody who leaves."""

    name: Annotated[str, "Which account?"]
    reason: Literal["too expensive", "not needed", "other"] = "other"
    sure: Annotated[bool, "There is no way back"] = False


def delete(name: str) -> int:
    """Delete an account; return how many are gone by now."""
    deleted.append(name)
    return len(deleted)


@server.tool
async def delete_account(ctx: Context) -> str:
    """Delete an account, after asking for consent."""
    answer = await ctx.elicit("This deletes an account for good.", Farewell, key="farewell")
    if not answer.accepted or not answer.data.sure:
        return "Nothing was deleted."
    count = await ctx.once(delete, answer.data.name, key="delete")
    return f"{answer.data.name} is gone ({answer.data.reason}), as number {count}."


if __name__ == "__main__":
    server.run()
