"""The time server: as the original answered, and what it answers better."""

import sys
import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from servers.recorded import Recorded, answered, assert_offers, calls
from splice import Client
from splice.servers.time.server import make
from splice.servers.time.zones import local_name, moments, names, skipped, zone

DAYS = {5: "2026-11-21", 6: "2026-11-20"}
"""By the number of a call: the day on which it was recorded, in the zone of the source."""

DIFFERENT = {
    1: "names what is meant by a name that is near, and has no words before it that only repeat the tool's name",
    2: "an empty name is a wrong name, not a missing one",
    3: "Splice's own words for a missing argument",
    4: "as 1",
    7: "as 1",
    8: "Splice's own words for an unknown tool",
}


async def ask(tool: str, **arguments: Any) -> Any:
    async with Client(make(local_timezone="Europe/Warsaw")) as client:
        result = await client.call_tool(tool, arguments)
    return result.text if result.is_error else result.structured_content


async def convert(source: str, time: str, target: str, date: str | None = None) -> Any:
    more = {} if date is None else {"date": date}
    return await ask("convert_time", source_timezone=source, time=time, target_timezone=target, **more)


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_it_answers_as_the_original(protocol: str) -> None:
    same: list[Recorded] = []
    async with Client(make(local_timezone="UTC"), protocol=protocol) as client:
        await assert_offers(client, "time")
        for call in calls("time"):
            if call.number in DAYS:  # a conversion is one of today, unless told
                call.params["arguments"]["date"] = DAYS[call.number]
            answer = await answered(client, call, {})
            for name in ("resultType", "_meta"):  # of the modern era
                answer.get("result", {}).pop(name, None)
            if call.number in DIFFERENT:
                assert ("error" in answer) == ("error" in call.answer), str(call)
                assert answer.get("result", {}).get("isError") == call.answer.get("result", {}).get("isError")
            elif call.number:
                assert answer == call.answer, str(call)
                same.append(call)
    assert len(same) == len(DAYS)


async def test_the_time_is_now() -> None:
    now = await ask("get_current_time", timezone="Asia/Kathmandu")
    told = datetime.fromisoformat(now["datetime"])
    assert abs(datetime.now(UTC) - told) < timedelta(seconds=5)
    assert told.utcoffset() == timedelta(hours=5, minutes=45)
    assert now["day_of_week"] == told.strftime("%A")


async def test_an_hour_that_occurs_twice_has_two_readings() -> None:
    twice = await convert("Europe/Warsaw", "02:30", "UTC", "2026-10-25")
    assert twice["source"]["datetime"] == "2026-10-25T02:30:00+02:00"
    assert twice["target"]["datetime"] == "2026-10-25T00:30:00+00:00"
    assert twice["time_difference"] == "-2.0h"
    assert twice["second_reading"]["source"]["datetime"] == "2026-10-25T02:30:00+01:00"
    assert twice["second_reading"]["target"]["datetime"] == "2026-10-25T01:30:00+00:00"
    assert "twice on this day, with the offsets +02:00 and +01:00" in twice["note"]


async def test_an_hour_that_is_skipped_is_an_error_that_says_which() -> None:
    said = await convert("Europe/Warsaw", "02:30", "UTC", "2026-03-29")
    assert said.startswith("02:30 does not exist in Europe/Warsaw on 2026-03-29")
    assert said.endswith("from 02:00 to 03:00")
    said = await convert("Australia/Lord_Howe", "02:15", "UTC", "2026-10-04")
    assert said.endswith("from 02:00 to 02:30")


async def test_a_conversion_knows_the_offsets_of_its_day() -> None:
    summer = await convert("America/New_York", "9:05", "Europe/Warsaw", "2026-07-01")
    assert summer["source"] == {
        "timezone": "America/New_York",
        "datetime": "2026-07-01T09:05:00-04:00",
        "day_of_week": "Wednesday",
        "is_dst": True,
    }
    assert (await convert("UTC", "00:00", "UTC", "2026-07-01"))["time_difference"] == "+0.0h"
    assert (await convert("UTC", "00:00", "America/St_Johns", "2026-01-01"))["time_difference"] == "-3.5h"


@pytest.mark.parametrize(
    "time", ["24:00", "12:60", "12", "12:3", "1:2:3", "-1:00", "noon", "\uff11\uff12:30", "12:30 "]
)
async def test_what_is_no_time_is_refused(time: str) -> None:
    assert await convert("UTC", time, "UTC") == "Invalid time format. Expected HH:MM [24-hour format]"


async def test_days_at_the_ends_of_the_calendar() -> None:
    assert (await convert("UTC", "00:30", "America/New_York", "0001-01-01")).endswith("the end of the calendar")
    assert (await convert("UTC", "23:30", "Asia/Tokyo", "9999-12-31")).endswith("the end of the calendar")
    assert "date" in await convert("UTC", "00:30", "UTC", "2026-02-30")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("europe/warsaw", "Europe/Warsaw"),
        ("Europe/Warszaw", "Europe/Warsaw"),
        ("new york", "America/New_York"),
        ("Tokyo", "Asia/Tokyo"),
        ("Mars/X", "Europe/Paris"),
    ],
)
async def test_only_exact_names_are_zones_and_near_ones_are_told(name: str, meant: str) -> None:
    said = await ask("get_current_time", timezone=name)
    assert said.startswith(f"Invalid timezone: 'No time zone found with key {name}'")
    assert meant in said


@pytest.mark.parametrize(
    "name", ["", ".", "/", "../../etc/passwd", "/etc/localtime", "Europe", "posix/UTC", "zone.tab", "UTC\0", "a" * 9999]
)
def test_files_that_are_no_zones_are_not_opened(name: str) -> None:
    with pytest.raises(ValueError, match="Invalid timezone") as refused:
        zone(name)
    assert len(str(refused.value)) < 250


def test_the_users_zone_is_that_of_the_machine_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Asia/Tokyo")
    assert local_name() == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "EST5EDT4,M3.2.0,M11.1.0")
    zone(local_name())
    assert "Asia/Tokyo" in (make(local_timezone="Asia/Tokyo").instructions or "")
    with pytest.raises(ValueError, match="Did you mean Asia/Tokyo"):
        make(local_timezone="Asia/Tokio")


def test_a_machine_without_zones_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("tzdata", "tzdata.zoneinfo"):
        monkeypatch.setitem(sys.modules, package, None)
    try:
        zoneinfo.reset_tzpath(to=())
        for cache in (ZoneInfo.clear_cache, names.cache_clear):
            cache()
        with pytest.raises(ValueError, match="pip install 'splice"):
            make()
    finally:
        zoneinfo.reset_tzpath()
        names.cache_clear()
    assert make().instructions


def test_each_minute_of_a_day_means_one_moment_but_where_clocks_are_set() -> None:
    for name, day, count in (("Europe/Warsaw", 25, 60), ("Europe/Warsaw", 26, 0)):
        midnight = datetime.fromisoformat(f"2026-10-{day}")
        minutes = [midnight + timedelta(minutes=each) for each in range(24 * 60)]
        assert sum(len(moments(each, ZoneInfo(name))) == 2 for each in minutes) == count
    apia = ZoneInfo("Pacific/Apia")  # left out a whole day to change sides of the date line
    noon, before, after = map(datetime.fromisoformat, ("2011-12-30T12:00", "2011-12-30", "2011-12-31"))
    assert moments(noon, apia) == []
    assert skipped(noon, apia) == (before, after)
