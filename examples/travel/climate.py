"""What the weather is like in a month, and on a day: made up from latitude, altitude and kind of climate, not measured.

The same city and date always have the same weather, so that two questions about a day have one answer.
"""

import calendar
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from random import Random
from typing import Literal

from .places import City

Sky = Literal["sunny", "partly cloudy", "cloudy", "rain", "thunderstorm", "snow"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of climate: how strong its seasons are, and when and how often it rains."""

    seasons: float  # how far summer and winter lie apart; 1 is the mean of places at this latitude
    day: float  # between the low and the high of a day, in °C
    rain: tuple[float, float]  # days with rain in the coldest and in the warmest month
    warmer: float = 0.0  # than the latitude says


@dataclass
class Climate:
    """What a month is like in a city, usually."""

    city: str
    month: str
    highC: float
    lowC: float
    rainyDays: int
    sunshineHoursPerDay: float


@dataclass
class Day:
    """The weather of one day, expected or usual."""

    date: date
    sky: Sky
    highC: float
    lowC: float
    chanceOfRain: int


KINDS = {
    "tropical": Kind(0.5, 7, (6, 15)),
    "mediterranean": Kind(0.85, 8, (9, 3)),
    "maritime": Kind(0.75, 7, (15, 10), -1),
    "continental": Kind(1.25, 9, (9, 11), -1.5),
    "desert": Kind(1.0, 12, (2, 0), 3),
}

MEDITERRANEAN = "Athens, Barcelona, Cape Town, Istanbul, Lisbon, Los Angeles, Madrid, Marrakesh, Rome, San Francisco"
MARITIME = (
    "Amsterdam, Auckland, Brussels, Copenhagen, Dublin, Edinburgh, London, Melbourne, Oslo, Paris, Reykjavik, Seattle, "
    "Stockholm, Sydney, Vancouver"
)
KIND_OF = {
    **dict.fromkeys(MEDITERRANEAN.split(", "), "mediterranean"),
    **dict.fromkeys(MARITIME.split(", "), "maritime"),
    **dict.fromkeys(("Cairo", "Dubai"), "desert"),
}
"""Of cities whose kind does not follow from their latitude."""

ALTITUDES = {
    "Bogotá": 2600,
    "Denver": 1600,
    "Johannesburg": 1750,
    "Madrid": 650,
    "Mexico City": 2240,
    "Munich": 520,
    "Nairobi": 1700,
    "Park City": 2100,
    "Salt Lake City": 1300,
}
"""In metres, where it matters."""

TROPICS = 24.0
"""Degrees of latitude."""

COOLER_PER_METRE = 0.0055

MONTHS = tuple(calendar.month_name)[1:]


def climate_of(city: City, month: int) -> Climate:
    """Tell what a month is like in a city; 1 is January."""
    latitude = abs(city.latitude)
    kind = KINDS[KIND_OF.get(city.name, "tropical" if latitude < TROPICS else "continental")]
    summer = -math.cos((month - 1.3) * math.pi / 6) * (1 if city.latitude >= 0 else -1)  # 1 is late July in the north
    year: float = 28 * math.cos(math.radians(latitude)) ** 1.7 - 0.5 + kind.warmer
    mean = year + summer * 0.22 * min(latitude, 50) * kind.seasons - ALTITUDES.get(city.name, 0) * COOLER_PER_METRE
    rain = kind.rain[0] + (kind.rain[1] - kind.rain[0]) * (summer + 1) / 2
    daylight = 12 + summer * latitude / 10
    sunshine = daylight * (1 - 0.028 * rain) * 0.72
    return Climate(
        city=city.name,
        month=MONTHS[month - 1],
        highC=round(mean + kind.day / 2, 1),
        lowC=round(mean - kind.day / 2, 1),
        rainyDays=round(rain),
        sunshineHoursPerDay=round(max(0.5, sunshine), 1),
    )


def day_of(city: City, on: date) -> Day:
    """Tell the weather of a city on a day."""
    usual = climate_of(city, on.month)
    chance = usual.rainyDays / 30
    random = Random(f"{city.name} {on}")
    shift, wet, cover = random.gauss(0, 2.2), random.random(), random.random()
    rains = wet < chance
    high = usual.highC + max(-6.0, min(6.0, shift)) - 2 * rains
    low = min(high - 2, usual.lowC + shift / 2 + rains)
    return Day(on, _sky(high, cover, rains=rains), round(high, 1), round(low, 1), _percent(chance, wet, rains=rains))


def month_number(name: str) -> int | None:
    """Read the name of a month, or its first letters if no other month begins with them, or its number."""
    typed = name.strip().casefold()
    if typed.isascii() and typed.isdigit() and len(typed) <= 2 and 1 <= int(typed) <= 12:
        return int(typed)
    found = [number for number, month in enumerate(MONTHS, 1) if typed and month.casefold().startswith(typed)]
    return found[0] if len(found) == 1 else None


def complete_month(typed: str) -> Iterator[str]:
    """Complete the beginning of a month's name."""
    return (month for month in MONTHS if month.casefold().startswith(typed.strip().casefold()))


def _sky(high: float, cover: float, *, rains: bool) -> Sky:
    if rains:
        return "snow" if high < 2 else "thunderstorm" if high > 26 and cover > 0.5 else "rain"
    return "sunny" if cover < 0.5 else "partly cloudy" if cover < 0.8 else "cloudy"


def _percent(chance: float, wet: float, *, rains: bool) -> int:
    """Tell the chance of rain: above one half where it will rain, below it where not, in tens."""
    return round(6 + 3 * (1 - wet)) * 10 if rains else round(min(4.0, 8 * chance * (1 - wet))) * 10
