"""Arguments of the time server: whatever they are, the answer is a time or one short error that says what is wrong."""

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from fuzz.fuzzing import TEXT, fuzz
from splice import ToolError
from splice.servers.time import server, zones

ZONE = (
    st.sampled_from(sorted(zones.names()))
    | TEXT
    | st.text("./~\0Uu TCEuropeé", max_size=12)
    | st.sampled_from(["../UTC", "/etc/passwd", "posix/UTC", "Europe", "UTC/", "utc", "a" * 300, "\x1b[2J", "UTC\n"])
)
CLOCK = st.from_regex(r"\A\d{1,2}:\d{2}\Z") | TEXT | st.text("0123456789:-+ ", max_size=6)


def converted(clock: datetime, source: str, target: str) -> Any:
    return server._converted(clock, zones.zone(source), zones.zone(target))


@fuzz(name=ZONE)
def test_a_name_is_a_zone_or_one_line(name: str) -> None:
    try:
        found = zones.zone(name)
    except ValueError as error:
        said = str(error)
    else:
        assert found.key == name
        return
    assert said.startswith("Invalid timezone")
    assert said.isprintable()
    assert len(said) < 1000


@fuzz(time=CLOCK, day=st.dates())
def test_a_time_of_day_is_read_or_refused(time: str, day: date) -> None:
    try:
        clock = server._clock(time, day)
    except ToolError:
        return
    assert clock.date() == day
    assert [int(each) for each in time.split(":")] == [clock.hour, clock.minute]


@fuzz(
    clock=st.datetimes(),
    source=st.sampled_from(sorted(zones.names())),
    target=st.sampled_from(sorted(zones.names())),
)
def test_a_conversion_is_one_moment_in_both_zones(clock: datetime, source: str, target: str) -> None:
    clock = clock.replace(second=0, microsecond=0)
    try:
        found = converted(clock, source, target)
    except ToolError as error:
        found = str(error)
    if isinstance(found, str):
        assert "does not exist" in found or "calendar" in found
        return
    moments = [datetime.fromisoformat(each.datetime) for each in (found.source, found.target)]
    assert moments[0].replace(tzinfo=None) == clock
    if all(2 <= each.year <= 9998 for each in moments):
        assert moments[0].astimezone(UTC) == moments[1].astimezone(UTC)
