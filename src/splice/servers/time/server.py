"""The tools of the time server."""

import re
from datetime import date, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct

from splice import Server, ToolError
from splice.servers.indented import indented
from splice.servers.time import zones
from splice.types import ToolAnnotations

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})", re.ASCII)

_LOOKS = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
"""Not idempotent: the time goes on. A conversion without a date is one of today."""

INSTRUCTIONS = "Zones have IANA names such as Europe/Paris. The user's own zone is {}, unless they say otherwise."


class TimeResult(Struct, frozen=True):
    """A moment, as clocks of one zone show it."""

    timezone: str
    datetime: Annotated[str, Meta(description="ISO 8601, with the offset from UTC")]
    day_of_week: str
    is_dst: Annotated[bool, Meta(description="Whether daylight saving time holds then")]


class Reading(Struct, frozen=True):
    """One moment in two zones."""

    source: TimeResult
    target: TimeResult
    time_difference: Annotated[str, Meta(description="How far the target's clock is ahead, such as +5.75h")]


class Conversion(Reading, frozen=True, omit_defaults=True):
    """One moment in two zones, or two where clocks show the time twice."""

    second_reading: Reading | None = None
    note: str | None = None


def make(*, local_timezone: str | None = None) -> Server:
    """Make the server. Raises `ValueError` for a zone that does not exist."""
    local = zones.local_name() if local_timezone is None else local_timezone
    if not zones.is_there(local):
        zones.zone(local)  # says what is wrong with it
    server = Server("mcp-time", version="1.0.0", instructions=INSTRUCTIONS.format(local), middleware=[indented()])
    own = f"An IANA name such as America/New_York. If the user names no place, it is {local}."

    @server.tool(title="Current time", annotations=_LOOKS, blocking=False)
    def get_current_time(timezone: Annotated[str, Meta(description=own)]) -> TimeResult:
        """Tell what time it is now in a zone, with its offset from UTC, the weekday and whether summer time holds."""
        return _told(datetime.now(_zone(timezone)))

    @server.tool(title="Convert time", annotations=_LOOKS, blocking=False)
    def convert_time(
        source_timezone: Annotated[str, Meta(description=f"Where the time is meant. {own}")],
        time: Annotated[str, Meta(description="The time there, 24 hours, HH:MM")],
        target_timezone: Annotated[str, Meta(description=f"Where the time is wanted. {own}")],
        date: Annotated[
            date | None, Meta(description="The day in the source's zone, YYYY-MM-DD; today if absent")
        ] = None,
    ) -> Conversion:
        """Convert a time of day from one zone to another.

        Offsets change over the year, so give the date unless today is meant. A time that clocks show twice, as they
        are set back, comes with both readings; one that they skip is an error.
        """
        source, target = _zone(source_timezone), _zone(target_timezone)
        return _converted(_clock(time, date or datetime.now(source).date()), source, target)

    return server


def _zone(name: str) -> ZoneInfo:
    try:
        return zones.zone(name)
    except ValueError as error:
        raise ToolError(str(error)) from None


def _clock(time: str, day: date) -> datetime:
    """Read the time of a clock. Raises `ToolError`."""
    found = _CLOCK.fullmatch(time)
    if found is None or not (int(found[1]) < 24 and int(found[2]) < 60):
        raise ToolError("Invalid time format. Expected HH:MM [24-hour format]")
    return datetime.combine(day, datetime.min.time().replace(int(found[1]), int(found[2])))


def _converted(clock: datetime, source: ZoneInfo, target: ZoneInfo) -> Conversion:
    try:
        found = zones.moments(clock, source)
        readings = [_reading(each, target) for each in found]
    except OverflowError:
        raise ToolError(f"{clock:%Y-%m-%d} is too near to the end of the calendar") from None
    if not readings:
        before, after = zones.skipped(clock, source)
        raise ToolError(
            f"{clock:%H:%M} does not exist in {source.key} on {clock:%Y-%m-%d}: "
            f"clocks are set forward from {before:%H:%M} to {after:%H:%M}"
        )
    first, *others = readings
    if not others:
        return Conversion(*_parts(first))
    offsets = " and ".join(f"{each:%z}"[:3] + ":" + f"{each:%z}"[3:5] for each in found)
    note = (
        f"Clocks in {source.key} show {clock:%H:%M} twice on this day, with the offsets {offsets}. Ask which is meant."
    )
    return Conversion(*_parts(first), second_reading=others[0], note=note)


def _parts(reading: Reading) -> tuple[TimeResult, TimeResult, str]:
    return reading.source, reading.target, reading.time_difference


def _reading(moment: datetime, target: ZoneInfo) -> Reading:
    there = moment.astimezone(target)
    ahead = ((there.utcoffset() or timedelta()) - (moment.utcoffset() or timedelta())) / timedelta(hours=1)
    difference = f"{ahead:+.1f}h" if ahead.is_integer() else f"{ahead:+.2f}".rstrip("0") + "h"
    return Reading(_told(moment), _told(there), difference)


def _told(moment: datetime) -> TimeResult:
    assumed: Any = moment.tzinfo
    return TimeResult(
        timezone=assumed.key,
        datetime=moment.isoformat(timespec="seconds"),
        day_of_week=f"{moment:%A}",
        is_dst=bool(moment.dst()),
    )
