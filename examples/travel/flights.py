"""The flights of every day between any two cities: derived by seeded arithmetic, so that none has to be stored.

A pair of cities has a timetable, the same every day: who flies, from and to which airport, when, by which hubs. Prices
and the seats that are left are those of a day. New York and Barcelona have 47 options; other pairs have 8 to 40.

Airlines are invented.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import pairwise, permutations
from random import Random
from zoneinfo import ZoneInfo

from .places import CITIES, City, distance, find_city

DAYS = 365
"""How many days ahead flights and rooms are sold."""

FAMOUS, OPTIONS = {"New York", "Barcelona"}, 47
"""The pair of cities of the story, and how many options a day it has, in either direction."""

SPEED, GROUND = 14.2, 35
"""Of a plane: kilometres a minute, and the minutes it needs beside that."""


@dataclass(frozen=True, slots=True)
class Airline:
    """An airline. Its planes fly from and to its hubs only."""

    code: str
    name: str
    hubs: tuple[str, ...]
    level: float  # of its prices; 1 is usual


AIRLINES = (
    Airline("AB", "Albion Air", ("London", "Edinburgh"), 1.08),
    Airline("CN", "Cóndor Real", ("Bogotá", "Lima", "Mexico City"), 0.9),
    Airline("GL", "Gallia", ("Paris", "Geneva"), 1.05),
    Airline("IW", "Iberwing", ("Madrid", "Barcelona"), 0.95),
    Airline("LB", "Liberty Air", ("New York", "Atlanta", "Miami"), 1.04),
    Airline("LX", "Lakeland", ("Chicago", "Toronto", "Montreal"), 0.96),
    Airline("MP", "Meridian Pacific", ("Tokyo", "Seoul", "Hong Kong"), 1.1),
    Airline("ND", "Nordvind", ("Oslo", "Copenhagen", "Stockholm"), 0.92),
    Airline("OG", "Oryx Gulf", ("Dubai",), 1.12),
    Airline("PW", "Pacific West", ("San Francisco", "Los Angeles", "Seattle"), 1.0),
    Airline("RH", "Rhenania", ("Frankfurt", "Munich", "Zurich", "Vienna"), 1.06),
    Airline("SH", "Shamrock Jet", ("Dublin",), 0.86),
    Airline("SS", "Southern Star", ("Sydney", "Melbourne", "Singapore"), 1.07),
    Airline("SV", "Savanna Air", ("Nairobi", "Johannesburg"), 0.9),
    Airline("TB", "Tramontana", ("Rome", "Milan", "Athens"), 0.94),
    Airline("TE", "Tejo", ("Lisbon",), 0.88),
    Airline("TW", "Trade Wind", ("Miami", "Bridgetown", "San Juan"), 0.98),
    Airline("VL", "Vltava", ("Prague", "Budapest", "Berlin"), 0.84),
    Airline("WP", "Polder", ("Amsterdam", "Brussels"), 1.02),
)
LARGE = ("London", "Paris", "Frankfurt", "Atlanta", "Chicago", "Dubai", "Singapore", "Tokyo", "Bogotá")
"""Where passengers of any airline may change to a partner's plane, as one of two stops."""

AIRLINE = {airline.code: airline for airline in AIRLINES}


@dataclass(frozen=True, slots=True)
class Leg:
    """One plane, from take-off to landing, in local times. Origin and destination are codes of airports."""

    number: str
    origin: str
    departs: datetime
    destination: str
    arrives: datetime


@dataclass(frozen=True, slots=True)
class Option:
    """One way to fly on a day."""

    id: str
    airline: str
    cents: int
    minutes: int
    legs: tuple[Leg, ...]
    seats: int  # left on the day, before anything that this example sold

    @property
    def stops(self) -> int:
        """How often the traveller changes planes."""
        return len(self.legs) - 1

    @property
    def departs(self) -> datetime:
        """When the first plane leaves."""
        return self.legs[0].departs

    @property
    def arrives(self) -> datetime:
        """When the last plane arrives."""
        return self.legs[-1].arrives

    @property
    def layovers(self) -> list[tuple[str, int]]:
        """Where the traveller waits, and how many minutes."""
        pairs = pairwise(self.legs)
        return [(one.destination, _minutes(other.departs - one.arrives)) for one, other in pairs]


@dataclass(frozen=True, slots=True)
class _Plan:
    """A line of a timetable."""

    airline: Airline
    airports: tuple[str, ...]
    departs: int  # minute of the day, local
    waits: tuple[int, ...]
    numbers: tuple[str, ...]
    factor: float


def options(seed: str, origin: City, destination: City, day: date) -> list[Option]:
    """Give all options of a day, in the order of their departure."""
    prefix = f"{origin.code}-{destination.code}-{day:%Y%m%d}"
    chance = Random(f"{seed}/{prefix}")
    plans = _timetable(seed, origin, destination)
    return [_option(f"{prefix}-{number:02}", plan, day, chance) for number, plan in enumerate(plans, 1)]


def find_option(seed: str, id: str) -> Option | None:
    """Find an option by its id, "NYC-BCN-20270615-07"; None if there is none."""
    parts = id.strip().upper().split("-")
    if len(parts) != 4 or len(parts[2]) != 8 or not (parts[2] + parts[3]).isascii() or not parts[2].isdecimal():
        return None
    origin, destination = find_city(parts[0]), find_city(parts[1])
    try:
        day = date.fromisoformat(parts[2])
        if origin is None or destination is None or origin == destination:
            return None
        found = options(seed, origin, destination, day)
    except (ValueError, OverflowError):  # no day, or one whose flights arrive after the last one there is
        return None
    return next((option for option in found if option.id == "-".join(parts)), None)


@lru_cache(maxsize=512)
def _timetable(seed: str, origin: City, destination: City) -> list[_Plan]:
    chance = Random(f"{seed}/timetable/{origin.code}/{destination.code}")
    famous = {origin.name, destination.name} == FAMOUS
    wanted = OPTIONS if famous else Random(f"{seed}/count/{origin.code}/{destination.code}").randint(8, 40)
    direct = _direct(origin, destination)
    routes = [direct[number % len(direct)] for number in range(max(wanted // 6, 1))] if direct else []
    twice = _by_detour(origin, destination, 2)[:12]
    once = _by_detour(origin, destination, 1)[:16]
    while len(routes) < wanted:
        routes.append(chance.choice(twice if len(routes) % 4 == 3 else once))
    return sorted((_plan(route, origin, destination, chance) for route in routes), key=lambda plan: plan.departs)


_Route = tuple[Airline, tuple[City, ...]]


def _direct(origin: City, destination: City) -> list[_Route]:
    if distance(origin, destination) > 14_500:
        return []
    return [(airline, ()) for airline in AIRLINES if {origin.name, destination.name} & set(airline.hubs)]


@lru_cache(maxsize=512)
def _by_detour(origin: City, destination: City, stops: int) -> list[_Route]:
    """Give the routes by this number of an airline's hubs, the shortest first. Two airlines may share a way."""
    found: list[tuple[float, str, _Route]] = []
    for airline in AIRLINES:
        changes = airline.hubs if stops == 1 else tuple(dict.fromkeys(airline.hubs + LARGE))
        for hubs in permutations(changes, stops):
            names = (origin.name, *hubs, destination.name)
            if len(set(names)) < len(names) or not set(hubs) & set(airline.hubs):
                continue
            length = sum(_way(one, other) for one, other in pairwise(names))
            found.append((length, airline.code, (airline, tuple(_CITY[hub] for hub in hubs))))
    return [route for _, _, route in sorted(found, key=lambda each: each[:2])]


def _plan(route: _Route, origin: City, destination: City, chance: Random) -> _Plan:
    airline, hubs = route
    far = distance(origin, destination) > 3500
    ends = [chance.choice(city.airports[:2] if far else city.airports) for city in (origin, destination)]
    airports = (ends[0], *(hub.airports[0] for hub in hubs), ends[1])
    hour = chance.choice((6, 7, 7, 8, 9, 10, 11, 13, 14, 16, 17, 18, 19, 20, 21, 22))
    waits = tuple(chance.randrange(55, 250, 5) for _ in hubs)
    numbers = tuple(f"{airline.code} {chance.randint(100, 989)}" for _ in range(len(hubs) + 1))
    factor = airline.level * (1.16, 0.94, 0.8)[len(hubs)] * (1.05 if 7 <= hour <= 11 else 0.95)
    return _Plan(airline, airports, hour * 60 + chance.randrange(0, 60, 5), waits, numbers, factor)


def _option(id: str, plan: _Plan, day: date, chance: Random) -> Option:
    legs: list[Leg] = []
    at = datetime(day.year, day.month, day.day, tzinfo=_zone(plan.airports[0])) + timedelta(minutes=plan.departs)
    at, waits = at.astimezone(UTC), (*plan.waits, 0)
    length = 0.0
    for number, (here, there), wait in zip(plan.numbers, pairwise(plan.airports), waits, strict=True):
        way = _way(here, there)
        length += way
        lands = at + timedelta(minutes=5 * round((GROUND + way / SPEED) / 5))
        legs.append(Leg(number, here, at.astimezone(_zone(here)), there, lands.astimezone(_zone(there))))
        at = lands + timedelta(minutes=wait)
    whole = _minutes(legs[-1].arrives - legs[0].departs)
    price = (48 + 0.051 * length) * plan.factor * season(day) * chance.uniform(0.9, 1.15)
    return Option(id, plan.airline.code, round(price * 100), whole, tuple(legs), chance.randint(1, 9))


def season(day: date) -> float:
    """How much more a day costs than others: summer and the end of the year, and the days of weekends."""
    month = (0.86, 0.86, 0.92, 1.0, 1.0, 1.1, 1.22, 1.2, 1.0, 0.95, 0.88, 1.12)[day.month - 1]
    return month * (1.06 if day.weekday() in {4, 5, 6} else 0.98)


@cache
def _way(here: str, there: str) -> float:
    """Tell the distance of two cities by their names, or by the codes of airports."""
    return distance(_CITY[here], _CITY[there])


@lru_cache(maxsize=256)
def _zone(airport: str) -> ZoneInfo:
    return ZoneInfo(_CITY[airport].zone)


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds()) // 60


_CITY = {name: city for city in CITIES for name in (city.name, *city.airports)}
