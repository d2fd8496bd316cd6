"""A small server: one tool with typed arguments and a typed result, one resource, one prompt.

splice list examples/weather.py
splice call examples/weather.py forecast city=Oslo days=2
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from splice import Server, ToolError

CITIES: dict[str, list[Literal["sun", "rain", "snow"]]] = {
    "Oslo": ["snow", "snow", "sun"],
    "Rome": ["sun", "sun", "rain"],
}

server = Server("weather", version="1.0.0", instructions="weather://cities lists the cities there are.")


@dataclass
class Day:
    """The weather of one day."""

    day: int
    sky: Literal["sun", "rain", "snow"]


@server.tool
def forecast(city: str, days: Annotated[int, Meta(ge=1, le=3)] = 1) -> list[Day]:
    """Tell the weather of the coming days.

    Args:
        city: One of the cities in weather://cities.
        days: How many days, from today on.
    """
    if city not in CITIES:
        raise ToolError(f"There is no forecast for {city}. Ask for one of {', '.join(CITIES)}.")
    return [Day(day, sky) for day, sky in enumerate(CITIES[city][:days], 1)]


@server.resource("weather://cities")
def cities() -> list[str]:
    """List the cities there are forecasts for."""
    return list(CITIES)


@server.prompt
def pack(city: str) -> str:
    """Ask what to pack for a trip."""
    return f"I am travelling to {city} for three days. Look at the forecast and tell me what to pack."


if __name__ == "__main__":
    server.run()
