"""Texts that a user's program supplies to a login: assertions and ID tokens, from a function or a file.

Functions that are not async, and files, are read in a thread: they may block. Each login asks anew, as such texts
expire. What goes wrong is told without what was supplied.
"""

import asyncio
import inspect
import re
from pathlib import Path

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.steps import Source, Supply

MAX_CHARACTERS = 65_536
"""The longest text that is taken."""

_TEXT = re.compile(r"[!-~]+")


async def supplied(step: Supply) -> str:
    """Carry out a step: get the text. Raises `AuthorizationFailed` when there is none, or it is not one."""
    try:
        found = await _read(step.source)
    except OSError as error:
        raise AuthorizationFailed(f"{step.what} cannot be read: {error.strerror or type(error).__name__}") from None
    except UnicodeDecodeError:
        raise AuthorizationFailed(f"{step.what} cannot be read: the file is not text") from None
    except AuthorizationFailed:
        raise
    except Exception as error:
        raise AuthorizationFailed(
            f"{step.what} was not supplied: its function raised {type(error).__name__}"
        ) from error
    text = found.strip() if isinstance(found, str) else ""
    if len(text) > MAX_CHARACTERS or not _TEXT.fullmatch(text):
        raise AuthorizationFailed(f"{step.what} is not one: a text without blanks is expected, such as a JWT")
    return text


async def _read(source: Source) -> object:
    if isinstance(source, str):
        return source
    if isinstance(source, Path):
        return await asyncio.to_thread(_start, source)
    if inspect.iscoroutinefunction(source):
        return await source()
    found = await asyncio.to_thread(source)
    return await found if inspect.isawaitable(found) else found


def _start(path: Path) -> str:
    """Read a file, as far as a text may be long."""
    with path.open(encoding="ascii") as file:
        return file.read(MAX_CHARACTERS + 1)
