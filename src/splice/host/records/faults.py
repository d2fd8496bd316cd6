"""A fault of the host, or of a model of somebody's own, as the activity log tells it: what, where, its stack trace."""

import traceback
from pathlib import Path

from splice.host.asked import Json

MAX_LINES = 40
"""How many lines of a stack trace are kept."""


def fault_of(error: BaseException) -> dict[str, Json]:
    """Write a fault as facts. The trace is a list of lines: the log cuts the end of a long text, which counts here."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f", at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return {"why": f"{type(error).__name__}: {error}{where}", "trace": lines[-MAX_LINES:]}
