"""Time zones: found by their exact IANA names, and the moments that a clock in one of them may mean.

A clock that is set back shows an hour twice, one that is set forward skips one. `fold` tells the two apart.

https://data.iana.org/time-zones/theory.html
"""

import os
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

MAX_SHOWN = 64
"""How many characters of a name that is none are told back."""

_LOCALTIME = "/etc/localtime"


@cache
def names() -> frozenset[str]:
    """List the zones of this machine, or of the package tzdata where it has none. Reads some 600 files, once."""
    return frozenset(available_timezones())


def zone(name: str) -> ZoneInfo:
    """Find a zone. Raises `ValueError` that tells names which are near."""
    if name in names():
        return ZoneInfo(name)
    if not names():
        raise ValueError("this machine has no time zones: pip install 'splice[time]'")
    shown = name[:MAX_SHOWN].encode("unicode_escape").decode()
    near = _near(name[:MAX_SHOWN])
    hint = f". Did you mean {' or '.join(near)}?" if near else ". Names are such as Europe/Paris, Asia/Tokyo or UTC"
    raise ValueError(f"Invalid timezone: 'No time zone found with key {shown}'{hint}")


def _near(name: str) -> list[str]:
    """Find names that are spelled alike, or that end in this city."""
    lower = {each.lower(): each for each in sorted(names())}
    wanted = "_".join(name.lower().split())
    if wanted in lower:
        return [lower[wanted]]
    cities = [each for low, each in lower.items() if wanted and low.endswith(f"/{wanted}")]
    return cities[:3] or [lower[each] for each in get_close_matches(wanted, lower, 3)]


def local_name() -> str:
    """Name the zone that this machine keeps: of TZ, else of /etc/localtime; UTC where neither names one."""
    target = os.path.realpath(_LOCALTIME).partition("zoneinfo/")[2] if Path(_LOCALTIME).is_symlink() else ""
    found = [each for each in (os.environ.get("TZ", "").removeprefix(":"), target) if is_there(each)]
    return found[0] if found else "UTC"


def is_there(name: str) -> bool:
    """Tell whether there is a zone of a name that the user chose, without the list of all, which takes its time."""
    try:
        return bool(name) and ZoneInfo(name).key == name
    except (KeyError, ValueError, OSError):
        return False


def moments(clock: datetime, where: ZoneInfo) -> list[datetime]:
    """List what a clock may mean that shows this there: one moment, two when it is set back, none when it skips."""
    readings = [clock.replace(tzinfo=where, fold=fold) for fold in (0, 1)]
    real = [each for each in readings if each.astimezone(UTC).astimezone(where).replace(tzinfo=None) == clock]
    return real[:1] if len({each.utcoffset() for each in real}) == 1 else real


def skipped(clock: datetime, where: ZoneInfo) -> tuple[datetime, datetime]:
    """Tell between which times a clock is set forward that never shows this one."""
    before, after = (clock.replace(tzinfo=where, fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    late = (clock - before).replace(tzinfo=UTC)  # a moment after the clock was set, as it goes by the old offset
    early = (clock - after).replace(tzinfo=UTC)
    while late - early > timedelta(seconds=1):
        middle = early + (late - early) / 2
        early, late = (early, middle) if middle.astimezone(where).utcoffset() == after else (middle, late)
    late = late.replace(microsecond=0)
    return (late + before).replace(tzinfo=None), (late + after).replace(tzinfo=None)
