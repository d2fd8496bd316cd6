"""The calendar of the travel example: ranges, zones, leap years, what overlaps, and what is heard of."""

import asyncio
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from examples.travel.events import Calendar, Span, month_of, months_between, read_span
from examples.travel.office import by_environment, make

from splice import Change, Client, RPCError, Server
from splice.types import ResourceTemplateReference

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TRIP = {"title": "Barcelona Trip", "startDate": "2027-06-15", "endDate": "2027-06-22"}
MADRID, NEW_YORK = ZoneInfo("Europe/Madrid"), ZoneInfo("America/New_York")


def office(folder: Path, zone: str = "Europe/Madrid") -> Server:
    return make(folder, zone=zone, now=lambda: NOW)


async def events(client: Client, where: str) -> list[dict[str, Any]]:
    text = (await client.read_resource(f"calendar://{where}")).contents[0].text
    assert text is not None
    found: list[dict[str, Any]] = json.loads(text)
    return found


async def titles(client: Client, where: str) -> list[str]:
    return [event["title"] for event in await events(client, where)]


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_an_event_is_entered_once_and_heard_of(tmp_path: Path, protocol: str) -> None:
    heard: asyncio.Queue[Change] = asyncio.Queue()
    server = office(tmp_path)
    async with Client(server, protocol=protocol, on_change=heard.put_nowait) as client:
        for uri in ("calendar://my-calendar/June-2027", "calendar://events/2027", "calendar://my-calendar/July-2027"):
            await client.subscribe(uri)
        entered = (await client.call_tool("createCalendarEvent", TRIP)).structured_content
        assert entered["event"] == {"id": 7, **TRIP, "allDay": True}
        assert (entered["isNew"], entered["overlaps"]) == (True, [])
        async with asyncio.timeout(5):
            told = {(await heard.get()).uri, (await heard.get()).uri}
        assert told == {"calendar://my-calendar/June-2027", "calendar://events/2027"}
        again = (await client.call_tool("createCalendarEvent", TRIP)).structured_content
        assert again == {**entered, "isNew": False}
        assert await titles(client, "my-calendar/June-2027") == ["Barcelona Trip"]
        assert "is cancelled" in (await client.call_tool("cancelCalendarEvent", {"id": 7})).text
        async with asyncio.timeout(5):
            assert {(await heard.get()).uri, (await heard.get()).uri} == told
        assert heard.empty()
        assert await titles(client, "my-calendar/June-2027") == []
        assert "There is no event" in (await client.call_tool("cancelCalendarEvent", {"id": 7})).text
        assert "There is no event" in (await client.call_tool("cancelCalendarEvent", {"id": 2**63})).text
    await server.service.close()


async def test_what_overlaps_is_told_and_free_dates_go_around_it(tmp_path: Path) -> None:
    server = office(tmp_path)
    async with Client(server) as client:
        await client.call_tool("createCalendarEvent", TRIP)
        for start, end, overlaps in (
            ("2027-06-22T22:00", "2027-06-23T00:00", True),  # the last evening of the journey
            ("2027-06-23T00:00", "2027-06-23T01:00", False),
            ("2027-06-14T20:00Z", "2027-06-14T22:00Z", False),  # ends at midnight in Madrid
            ("2027-06-14T20:00Z", "2027-06-14T22:00:01Z", True),
            ("2027-06-18", "2027-06-18", True),
        ):
            event = {"title": f"from {start}", "startDate": start, "endDate": end}
            entered = (await client.call_tool("createCalendarEvent", event)).structured_content
            assert ("Barcelona Trip" in [each["title"] for each in entered["overlaps"]]) == overlaps, start
        days = {"startDate": "2027-06-10", "endDate": "2027-06-30"}
        free = (await client.call_tool("listFreeDates", days)).structured_content
        assert free == [
            {"startDate": "2027-06-10", "endDate": "2027-06-13", "days": 4},
            {"startDate": "2027-06-24", "endDate": "2027-06-30", "days": 7},
        ]
        long = (await client.call_tool("listFreeDates", {**days, "minDays": 5})).structured_content
        assert long == free[1:]
        assert (await client.call_tool("listFreeDates", {**days, "endDate": "2027-06-09"})).is_error
        assert (await client.call_tool("listFreeDates", {**days, "endDate": "2037-06-09"})).is_error
        for edge in ("0001-01-01", "9999-12-31"):
            assert not (await client.call_tool("listFreeDates", {"startDate": edge, "endDate": edge})).is_error
    await server.service.close()


async def test_times_belong_to_the_days_of_their_zone(tmp_path: Path) -> None:
    late = {"title": "Late call", "startDate": "2026-12-31T23:30-05:00", "endDate": "2027-01-01T00:00-05:00"}
    for zone, month, start in (
        ("America/New_York", "December-2026", "2026-12-31T23:30:00-05:00"),
        ("Europe/Madrid", "January-2027", "2027-01-01T05:30:00+01:00"),
    ):
        server = office(tmp_path, zone)  # the same file: what is kept does not depend on the zone
        async with Client(server) as client:
            assert (await client.call_tool("createCalendarEvent", late)).structured_content["event"][
                "startDate"
            ] == start
            assert "Late call" in await titles(client, f"my-calendar/{month}")
            years = [await titles(client, f"events/{year}") for year in (2026, 2027)]
            assert ["Late call" in each for each in years] == [month == "December-2026", month == "January-2027"]
        await server.service.close()


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("2027-02-29", "2027-03-01", "neither a day"),
        ("2028-02-29", "2028-02-28", "before it begins"),
        ("2028-02-29", "2028-03-01T10:00", "both days"),
        ("2027-03-28T02:30", "2027-03-28T04:00", "There is no 2027-03-28T02:30 in Europe/Madrid"),
        ("2027-01-01", "2028-01-02", "at most 366 days"),
        ("1969-12-31", "1970-01-01", "from 1970 to 2100"),
        ("0001-01-01T00:00+14:00", "2027-01-01T00:00", "from 1970 to 2100"),
        ("9999-12-31T23:59-14:00", "9999-12-31T23:59-14:00", "from 1970 to 2100"),
        ("tomorrow", "2027-01-01", "'tomorrow' is neither"),
        ("2027-01-01\n", "2027-01-01", "neither a day"),
    ],
)
def test_dates_that_are_none(start: str, end: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_span(start, end, MADRID)


def test_spans_and_months() -> None:
    assert read_span("2028-02-29", "2028-02-29", MADRID).days(MADRID) == (date(2028, 2, 29), date(2028, 2, 29))
    night = read_span("2027-06-01T20:00", "2027-06-02T00:00", MADRID)
    assert night.days(MADRID) == (date(2027, 6, 1), date(2027, 6, 1))
    twice = read_span("2026-10-25T02:30", "2026-10-25T04:00", MADRID)  # this time there is twice: the first is meant
    assert twice.ends - twice.begins == read_span("2026-10-25T00:30Z", "2026-10-25T03:00Z", MADRID).ends - twice.begins
    whole = Span(date(2027, 3, 14), date(2027, 3, 14)).instants(NEW_YORK)
    assert (whole[1] - whole[0]).total_seconds() == 23 * 3600
    assert month_of("February-2024") == (date(2024, 2, 1), date(2024, 2, 29))
    assert [month_of(each) for each in ("june-2024", "June-24", "June-2024 ", "Juni-2024", "June-٢٠٢٤")] == [None] * 5
    assert months_between(date(2026, 11, 30), date(2027, 1, 1)) == ["November-2026", "December-2026", "January-2027"]


async def test_resources_are_listed_and_completed(tmp_path: Path) -> None:
    server = office(tmp_path)
    async with Client(server) as client:
        uris = [each.uri for each in await client.list_resources()]
        assert uris[1:4] == ["calendar://events/2026", "calendar://events/2027", "calendar://my-calendar/November-2026"]
        assert len(uris) == 15
        month = ResourceTemplateReference(uri="calendar://my-calendar/{month}")
        assert (await client.complete(month, "month", "june-")).values[:2] == ["June-2027", "June-2026"]
        year = ResourceTemplateReference(uri="calendar://events/{year}")
        assert (await client.complete(year, "year", "202")).values == ["2026", "2027"]
        assert await titles(client, "my-calendar/June-2024") == []
        for wrong in ("my-calendar/june-2024", "my-calendar/2024-06", "events/24", "events/0000", "events/٢٠٢٤"):
            with pytest.raises(RPCError):
                await client.read_resource(f"calendar://{wrong}")
        for wrong_title in ("", " \n", "a\x00b", "a\x85\x9fb", "x" * 201):
            assert (await client.call_tool("createCalendarEvent", {**TRIP, "title": wrong_title})).is_error
    await server.service.close()


async def test_the_calendar_outlives_the_server_and_is_shared(tmp_path: Path) -> None:
    one, other = office(tmp_path), office(tmp_path)
    async with Client(one) as first, Client(other) as second:
        async with asyncio.TaskGroup() as both:
            for number in range(10):
                for client in (first, second):
                    day = f"2027-07-{number + 1:02}"
                    event = {"title": "Together", "startDate": day, "endDate": day}
                    both.create_task(client.call_tool("createCalendarEvent", event))
        assert len(await events(first, "my-calendar/July-2027")) == 10
    await one.service.close()
    await other.service.close()
    assert (tmp_path / "calendar.db").stat().st_mode & 0o777 == 0o600
    kept = Calendar(tmp_path, MADRID)
    assert len(kept.between(date(2027, 7, 1), date(2027, 7, 31))) == 10
    assert len(kept.between(date.min, date.max)) == 16, "what a new calendar has is entered once"
    kept.close()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"SPLICE_TRAVEL_TIME_ZONE": "Mars/Olympus"}, "no time zone"),
        ({"SPLICE_TRAVEL_SMTP": "mail.example.com"}, "HOST:PORT"),
        ({"SPLICE_TRAVEL_SMTP": "mail.example.com:0"}, "HOST:PORT"),
        ({"SPLICE_TRAVEL_SMTP_USER": "ann", "SPLICE_TRAVEL_SMTP_PASSWORD": "x"}, "over TLS only"),
        ({"SPLICE_TRAVEL_SMTP_SECURITY": "ssl"}, "none, starttls or tls"),
        ({"SPLICE_TRAVEL_SMTP_FROM": "ann@example.com\nBcc: x@example.com"}, "is not a mail address"),
    ],
)
def test_settings_that_are_wrong(settings: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        by_environment(settings)


def test_settings_that_are_right(tmp_path: Path) -> None:
    assert by_environment({"SPLICE_TRAVEL_SMTP": "[::1]:25", "SPLICE_TRAVEL_DATA": str(tmp_path)}).name == "office"
