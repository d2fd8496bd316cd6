"""The weather server of the travel example: completion, forecast and climate, and alerts that are heard of."""

import asyncio
import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from examples.travel.climate import MONTHS, climate_of, day_of, month_number
from examples.travel.places import CITIES, City, find_city
from examples.travel.weather import MAX_ALERTS, make

from splice import Change, Client, RPCError
from splice.types import ResourceTemplateReference

NOW = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
FORECAST = ResourceTemplateReference(uri="weather://forecast/{city}/{date}")


def place(name: str) -> City:
    city = find_city(name)
    assert city is not None
    return city


def weather(protocol: str = "modern", *, operator: bool = False, **options: Any) -> Client:
    return Client(make(operator=operator, now=lambda: NOW), protocol=protocol, **options)


def read(result: Any) -> Any:
    return json.loads(result.contents[0].text)


def test_climate_is_plausible_everywhere() -> None:
    for city in CITIES:
        year = [climate_of(city, month) for month in range(1, 13)]
        assert all(-25 < each.lowC < each.highC < 45 for each in year), city.name
        assert all(0 <= each.rainyDays <= 30 and 0 < each.sunshineHoursPerDay < 16 for each in year), city.name
        if abs(city.latitude) > 24:
            warmest = max(year, key=lambda each: each.highC).month
            assert (warmest in {"June", "July", "August"}) == (city.latitude > 0), city.name
        days = [day_of(city, date(2028, 2, 1 + number)) for number in range(29)]
        assert all(day.lowC < day.highC for day in days)
        assert all((day.chanceOfRain > 50) == (day.sky in {"rain", "snow", "thunderstorm"}) for day in days)
    assert climate_of(place("Singapore"), 1).highC > climate_of(place("Oslo"), 7).highC - 10
    assert climate_of(place("Denver"), 7).highC < climate_of(place("Madrid"), 7).highC
    assert day_of(place("Paris"), date(2027, 6, 15)) == day_of(place("PAR"), date(2027, 6, 15))


@pytest.mark.parametrize(
    ("typed", "number"),
    [("June", 6), ("jun", 6), ("6", 6), ("12", 12), ("ju", None), ("13", None), ("", None), ("٣", None)],
)
def test_months_are_read(typed: str, number: int | None) -> None:
    assert month_number(typed) == number


async def test_what_is_offered_is_completed() -> None:
    async with weather() as client:
        assert (await client.complete(FORECAST, "city", "Par")).values == ["Paris", "Park City"]
        coming = await client.complete(FORECAST, "date", "2026-11-2", {"city": "Sydney"})
        assert coming.values[0] == "2026-11-23", "in Sydney it is tomorrow already"
        climate = ResourceTemplateReference(uri="weather://climate/{city}/{month}")
        assert (await client.complete(climate, "month", "ju")).values == ["June", "July"]
        (template,) = [each for each in await client.list_resource_templates() if each.name == "weather-forecast"]
        assert (template.uri_template, template.title) == (FORECAST.uri, "Weather Forecast")
        assert [tool.name for tool in await client.list_tools()] == ["checkWeather"]


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_days_near_are_forecast_and_others_are_climate(protocol: str) -> None:
    async with weather(protocol) as client:
        result = await client.call_tool("checkWeather", {"city": "BCN", "date": "2026-11-21", "endDate": "2026-12-04"})
        days = result.structured_content["days"]
        assert [day["kind"] for day in days] == ["climate", "climate", *["forecast"] * 10, "climate", "climate"]
        assert [day["confidence"] for day in days[2:12]] == ["high"] * 3 + ["medium"] * 4 + ["low"] * 3
        assert "(10 of 14 days are forecasts, the others climate)" in result.structured_content["summary"]
        leap = await client.call_tool("checkWeather", {"city": "Oslo", "date": "2028-02-28", "endDate": "2028-03-01"})
        assert [day["date"] for day in leap.structured_content["days"]] == ["2028-02-28", "2028-02-29", "2028-03-01"]
        forecast = read(await client.read_resource("weather://forecast/Park%20City/2026-11-24"))
        assert (forecast["city"], forecast["weather"]["kind"]) == ("Park City", "forecast")
        assert read(await client.read_resource("weather://climate/Paris/June"))["month"] == MONTHS[5]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"city": "Pariss", "date": "2027-06-15"}, "Did you mean Paris or Park City?"),
        ({"city": "\x1b[2J", "date": "2027-06-15"}, r"There is no weather for '\x1b[2J'"),
        ({"city": "Paris", "date": "2027-02-29"}, "date"),
        ({"city": "Paris", "date": "2027-06-15", "endDate": "2027-06-14"}, "is no range of 1 to 31 days"),
        ({"city": "Paris", "date": "2027-06-15", "endDate": "2027-07-16"}, "in parts"),
        ({"city": "x" * 101, "date": "2027-06-15"}, "city"),
    ],
)
async def test_what_is_wrong_is_told(wrong: dict[str, str], said: str) -> None:
    async with weather() as client:
        result = await client.call_tool("checkWeather", wrong)
        assert result.is_error
        assert said in result.text


async def test_resources_that_are_not_there() -> None:
    async with weather() as client:
        for uri in (
            "forecast/Atlantis/2027-06-15",
            "forecast/Paris/soon",
            "climate/Paris/Juno",
            "alerts/paris",
            "alerts/x",
        ):
            with pytest.raises(RPCError):
                await client.read_resource(f"weather://{uri}")


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_an_alert_is_heard_of_by_others(protocol: str) -> None:
    """The traveller hears of what the weather service says, whatever era the two speak."""
    server, heard = make(operator=True, now=lambda: NOW), asyncio.Queue[Change]()
    other = "legacy" if protocol == "modern" else "modern"
    async with (
        Client(server, protocol=protocol, on_change=heard.put_nowait) as traveller,
        Client(server, protocol=other) as service,
    ):
        uri = "weather://alerts/Park%20City"
        await traveller.subscribe(uri)
        assert read(await traveller.read_resource(uri)) == []
        issued = await service.call_tool(
            "issueAlert", {"city": "park city", "event": "Heavy\n snow", "severity": "red"}
        )
        async with asyncio.timeout(5):
            assert (await heard.get()).uri == uri
        (alert,) = read(await traveller.read_resource(uri))
        assert (alert["event"], alert["severity"], alert["ends"]) == ("Heavy snow", "red", "2026-11-23T23:30:00Z")
        checked = await traveller.call_tool("checkWeather", {"city": "Park City", "date": "2026-11-23"})
        assert checked.structured_content["alerts"] == [alert]
        withdrawn = {"id": issued.structured_content["id"]}
        assert "stands no more" in (await service.call_tool("withdrawAlert", withdrawn)).text
        async with asyncio.timeout(5):
            assert (await heard.get()).uri == uri
        assert read(await traveller.read_resource(uri)) == []
        assert "No alert" in (await service.call_tool("withdrawAlert", withdrawn)).text


async def test_alerts_end_and_are_limited() -> None:
    now = [NOW]
    async with Client(make(operator=True, now=lambda: now[0])) as client:
        for number in range(MAX_ALERTS + 2):
            await client.call_tool("issueAlert", {"city": "Rome", "event": f"Rain {number}", "hours": 1})
        standing = read(await client.read_resource("weather://alerts/Rome"))
        assert [each["event"] for each in standing] == [f"Rain {number}" for number in range(2, MAX_ALERTS + 2)]
        now[0] = NOW.replace(day=23)
        assert read(await client.read_resource("weather://alerts/Rome")) == []
