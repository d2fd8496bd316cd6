"""What the database begins with: hotels and activities of each city, and what the traveller likes and remembers.

All of it is invented, but for some sights of a few cities. The same seed gives the same rows.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from .places import CITIES, REGIONS, City, Region

ROOM_TYPES = ("sea view", "city view", "garden view")
"""What a room looks out on; a hotel without a sea has the other two."""

CATEGORIES = ("museums", "beaches", "food", "architecture", "nature", "nightlife", "shopping", "family")
"""The kinds of activities."""

_COASTAL = (
    "Accra|Athens|Auckland|Barcelona|Bridgetown|Cape Town|Copenhagen|Dubai|Havana|Hong Kong|Honolulu|Istanbul|Lima|"
    "Lisbon|Los Angeles|Melbourne|Miami|Montego Bay|Nassau|Oslo|Punta Cana|Rio de Janeiro|San Francisco|San Juan|"
    "Seattle|Singapore|Sydney|Vancouver"
)
COASTAL = frozenset(_COASTAL.split("|"))
"""The cities with a beach."""

_WEALTH = dict(zip(REGIONS, (150, 165, 175, 95, 120, 140, 90, 150), strict=True))
"""What a night costs where, in dollars, before the stars."""

_FIRST = "Grand|Park|Garden|Royal|Central|Old Town|Harbour|Station|Palm|Crown|Linden|Mosaic|Lantern|Terrace|Bellevue"
_LAST = "Hotel|House|Residence|Inn|Suites|Lodge|Palace|Rooms"
_STYLES = ("boutique", "family", "business", "classic", "design", "quiet")
_AREAS = ("old town", "city centre", "station", "riverside", "park", "university quarter")

_SEED = json.loads(Path(__file__).with_name("seed.json").read_text("utf-8"))

PREFERENCES: dict[Region, dict[str, Any]] = _SEED["preferences"]
"""What the traveller likes, by part of the world. `night` is the most that a room may cost, in dollars."""

TRIPS: dict[str, dict[str, Any]] = _SEED["trips"]
"""The journeys that the traveller remembers."""


class Hotel(NamedTuple):
    """A hotel with its rooms, as rows."""

    row: tuple[str, str, str, int, str, str, float]
    rooms: list[tuple[str, str, int, int]]


def hotels(seed: str) -> Iterator[Hotel]:
    """Make up the hotels of all cities: six to ten each."""
    for city in CITIES:
        chance = Random(f"{seed}/hotels/{city.name}")
        names = [f"{first} {last}" for first in _FIRST.split("|") for last in _LAST.split("|")]
        for number, name in enumerate(chance.sample(names, chance.randint(6, 10)), 1):
            yield _hotel(city, number, name, chance)


def _hotel(city: City, number: int, name: str, chance: Random) -> Hotel:
    id, stars = f"{city.name.replace(' ', '-')}-{number}".lower(), chance.choice((2, 3, 3, 4, 4, 5))
    at_sea = city.name in COASTAL and (number == 1 or chance.random() < 0.5)
    area = "beachfront" if at_sea else chance.choice(_AREAS)
    base = int(_WEALTH[city.region] * (0.45 + 0.2 * stars) * chance.uniform(0.7, 1.1)) * 100
    style, rating = chance.choice(_STYLES), round(chance.uniform(6.8, 9.6), 1)
    row = (id, city.name, f"{name} {city.name}", stars, style, area, rating)
    prices = {"sea view": base * 5 // 4, "city view": base, "garden view": base * 11 // 10}
    rooms = [(id, kind, prices[kind], chance.randint(2, 12)) for kind in ROOM_TYPES if at_sea or kind != "sea view"]
    return Hotel(row, rooms)


def activities(seed: str) -> Iterator[tuple[str, str, str, str, float, int]]:
    """Make up what one can do in each city."""
    for city in CITIES:
        chance = Random(f"{seed}/activities/{city.name}")
        for category in CATEGORIES:
            if category == "beaches" and city.name not in COASTAL:
                continue
            known = [sight for sight in _SEED["sights"] if sight[:2] == [city.name, category]]
            yield from known
            anywhere = [each for each in _SEED["anywhere"] if each[0] == category]
            for _, name, about, hours, cents in anywhere[: 4 - len(known)]:
                price = int(cents * chance.uniform(0.7, 1.3)) // 50 * 50
                yield city.name, category, name.format(city=city.name), about, hours, price
