"""The weather server of the travel example: forecasts for the coming days, climate for all others, and alerts.

    splice run examples/travel/weather.py           over stdin and stdout
    splice run examples/travel/weather.py --http    over HTTP

No measurement is behind it: `climate.py` makes everything up, always in the same way. With `SPLICE_TRAVEL_OPERATOR=1`
in the environment it also has the tools of those who warn of storms.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from msgspec import Meta

from splice import Context, ResourceNotFound, Server, ToolError
from splice.types import ToolAnnotations

from .climate import Climate, Day, Sky, climate_of, complete_month, day_of, month_number
from .places import City, complete_cities, find_city

FORECAST_DAYS = 10
"""How far a forecast reaches, today included; beyond it there is only climate."""

MAX_DAYS = 31
"""How many days one call tells of."""

MAX_ALERTS = 20
"""How many alerts stand for one city; the oldest go first."""

LOOKING = ToolAnnotations(read_only_hint=True, open_world_hint=False)
CHANGING = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
WITHDRAWING = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

INSTRUCTIONS = (
    "checkWeather tells the weather of a city on days of a journey. Each day says whether it is a forecast or only "
    "what is usual at that time of the year. Subscribe to weather://alerts/{city} to hear of warnings."
)

FORECAST, CLIMATE = "weather://forecast/{city}/{date}", "weather://climate/{city}/{month}"
ALERTS = "weather://alerts/{city}"
JSON = "application/json"

Severity = Literal["yellow", "orange", "red"]
Confidence = Literal["high", "medium", "low"]


@dataclass
class Expected(Day):
    """The weather of one day, and how much it is worth."""

    kind: Literal["forecast", "climate"]
    confidence: Confidence


@dataclass
class Alert:
    """A warning that stands for a city."""

    id: int
    city: str
    event: str
    severity: Severity
    begins: datetime
    ends: datetime


@dataclass
class Report:
    """The weather of a city on some days."""

    city: str
    country: str
    summary: str
    days: list[Expected]
    alerts: list[Alert]


@dataclass
class Forecast:
    """The weather of a city on one day, and what is usual then."""

    city: str
    weather: Expected
    usual: Climate


@dataclass
class Standing:
    """The warnings that stand."""

    number: int = 0
    alerts: dict[str, list[Alert]] = field(default_factory=dict)

    def of(self, city: City, now: datetime) -> list[Alert]:
        """Give those that are not over."""
        return [each for each in self.alerts.get(city.name, []) if each.ends > now]

    def add(self, city: City, event: str, severity: Severity, begins: datetime, hours: int) -> Alert:
        """Let one stand from `begins` on."""
        self.number += 1
        alert = Alert(self.number, city.name, event, severity, begins, begins + timedelta(hours=hours))
        self.alerts[city.name] = [*self.of(city, begins), alert][-MAX_ALERTS:]
        return alert

    def withdraw(self, number: int) -> Alert | None:
        """Let one stand no more; None if none has that number."""
        for alerts in self.alerts.values():
            for alert in alerts:
                if alert.id == number:
                    alerts.remove(alert)
                    return alert
        return None


def utc() -> datetime:
    """Tell what time it is."""
    return datetime.now(UTC)


def make(*, operator: bool = False, now: Callable[[], datetime] = utc) -> Server:
    """Make the server; with the tools of the weather service itself if its user is an `operator`."""
    server = Server("weather", version="1.0.0", title="Weather", instructions=INSTRUCTIONS)
    standing = Standing()
    add_tools(server, standing, now)
    add_resources(server, standing, now)
    if operator:
        add_operator(server, standing, now)
    return server


def add_tools(server: Server, standing: Standing, now: Callable[[], datetime]) -> None:
    """Add what everybody may call."""

    @server.tool(title="Check the weather", annotations=LOOKING, blocking=False)
    def checkWeather(
        city: Annotated[str, Meta(max_length=100, description="A city, or the code of its airport")],
        date: Annotated[date, "The day, or the first of several days"],
        endDate: Annotated[date | None, "The last day, if there are several"] = None,
    ) -> Report:
        """Tell the weather of a city on one day, or on each day of a journey, with the warnings that stand.

        Days within the next ten are forecasts; all others tell what is usual at that time of the year.
        """
        place = known_city(city)
        last = endDate or date
        if not 0 <= (last - date).days < MAX_DAYS:
            raise ToolError(
                f"From {date} to {last} is no range of 1 to {MAX_DAYS} days: endDate is the last day, so it is not "
                "before date. Ask for a longer journey in parts."
            )
        days = [expected(place, date + timedelta(days=each), now()) for each in range((last - date).days + 1)]
        return Report(place.name, place.country, summary_of(place, days), days, standing.of(place, now()))


def add_resources(server: Server, standing: Standing, now: Callable[[], datetime]) -> None:
    """Add the templates, and what completes them."""
    about = "Get weather forecast for any city and date"

    @server.resource(
        FORECAST, name="weather-forecast", title="Weather Forecast", description=about, mime_type=JSON, ttl=600
    )
    def forecast(city: str, date: date) -> Forecast:
        place = known_city(city, ResourceNotFound)
        return Forecast(place.name, expected(place, date, now()), climate_of(place, date.month))

    @server.resource(CLIMATE, name="climate", title="Climate", mime_type=JSON, ttl=86_400, scope="public")
    def climate(city: str, month: str) -> Climate:
        """Tell what a month is usually like in a city; a month is January, Feb or 3."""
        number = month_number(month)
        if number is None:
            raise ResourceNotFound(f"There is no month {month[:20]!a}: write January, Feb or 3.")
        return climate_of(known_city(city, ResourceNotFound), number)

    @server.resource(ALERTS, name="weather-alerts", title="Alerts", mime_type=JSON)
    def alerts(city: str) -> list[Alert]:
        """List the warnings that stand for a city. Subscribe to hear of new ones; the city is spelled as completed."""
        place = known_city(city, ResourceNotFound)
        if place.name != city:  # a subscription hears of one spelling only
            raise ResourceNotFound(f"The alerts of {place.name} are at {ALERTS.format(city=quote(place.name))}.")
        return standing.of(place, now())

    for template in (FORECAST, CLIMATE, ALERTS):
        server.completion(template, "city")(complete_cities)
    server.completion(CLIMATE, "month")(complete_month)

    @server.completion(FORECAST, "date")
    def days_to_come(typed: str, known: dict[str, str]) -> list[str]:
        place = find_city(known.get("city", ""))
        today = now().astimezone(ZoneInfo(place.zone) if place else UTC).date()
        days = (str(today + timedelta(days=each)) for each in range(366))
        return [day for day in days if day.startswith(typed.strip())]


def add_operator(server: Server, standing: Standing, now: Callable[[], datetime]) -> None:
    """Add the tools of the weather service."""

    @server.tool(title="Issue an alert", annotations=CHANGING)
    async def issueAlert(
        city: str,
        event: Annotated[str, Meta(min_length=1, max_length=200, description="What is coming, in a sentence")],
        ctx: Context,
        severity: Severity = "yellow",
        hours: Annotated[int, Meta(ge=1, le=240, description="For how long it stands")] = 24,
    ) -> Alert:
        """Warn a city of its weather. Whoever subscribed to its alerts hears of it."""
        place = known_city(city)
        alert = standing.add(place, " ".join(event.split()), severity, now(), hours)
        await ctx.notify_resource_updated(ALERTS.format(city=quote(place.name)))
        return alert

    @server.tool(title="Withdraw an alert", annotations=WITHDRAWING)
    async def withdrawAlert(id: int, ctx: Context) -> str:
        """Take a warning back."""
        alert = standing.withdraw(id)
        if alert is None:
            return f"No alert {id} stands."
        await ctx.notify_resource_updated(ALERTS.format(city=quote(alert.city)))
        return f"Alert {id} for {alert.city} stands no more."


def expected(city: City, on: date, now: datetime) -> Expected:
    """Tell the weather of a day, seen from now."""
    ahead = (on - now.astimezone(ZoneInfo(city.zone)).date()).days
    if 0 <= ahead < FORECAST_DAYS:
        confidence: Confidence = "high" if ahead < 3 else "medium" if ahead < 7 else "low"
        return Expected(**vars(day_of(city, on)), kind="forecast", confidence=confidence)
    usual = climate_of(city, on.month)
    chance = round(usual.rainyDays / 3) * 10
    sky: Sky = "sunny" if chance < 20 else "partly cloudy" if chance < 40 else "cloudy" if chance < 60 else "rain"
    return Expected(on, sky, usual.highC, usual.lowC, chance, "climate", "low")


def summary_of(city: City, days: list[Expected]) -> str:
    """Say in a sentence what the days will be like, and how far that can be relied on."""
    low, high = min(day.lowC for day in days), max(day.highC for day in days)
    forecasts = sum(day.kind == "forecast" for day in days)
    when = str(days[0].date) if len(days) == 1 else f"{days[0].date} to {days[-1].date}"
    worth = f"{forecasts} of {len(days)} days are forecasts, the others climate"
    if forecasts in {0, len(days)}:
        worth = "a forecast" if forecasts else "what is usual then, no forecast"
    return f"{city.name}, {when}: {low:.0f} to {high:.0f} °C ({worth})."


def known_city(typed: str, error: Callable[[str], Exception] = ToolError) -> City:
    """Find a city. Raises an error that names some that are near."""
    city = find_city(typed)
    if city is None:
        near = complete_cities(typed[:3])[:5] if typed.strip() else []
        hint = f" Did you mean {' or '.join(near)}?" if near else " Ask for a larger city near it."
        raise error(f"There is no weather for {typed[:100]!a}.{hint}")
    return city


server = make(operator=os.environ.get("SPLICE_TRAVEL_OPERATOR") == "1")
"""What `splice run` runs."""

if __name__ == "__main__":
    server.run()
