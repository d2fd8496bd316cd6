"""What the database begins with: hotels and activities of each city, and what the traveller likes and remembers.

All of it is invented, but for some sights of a few cities. The same seed gives the same rows.
"""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from .places import CITIES, City, Region

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

_WEALTH = {
    "europe": 150,
    "north-america": 165,
    "caribbean": 175,
    "latin-america": 95,
    "asia": 120,
    "middle-east": 140,
    "africa": 90,
    "oceania": 150,
}
_FIRST = "Grand|Park|Garden|Royal|Central|Old Town|Harbour|Station|Palm|Crown|Linden|Mosaic|Lantern|Terrace|Bellevue"
_LAST = "Hotel|House|Residence|Inn|Suites|Lodge|Palace|Rooms"
_STYLES = ("boutique", "family", "business", "classic", "design", "quiet")
_AREAS = ("old town", "city centre", "station", "riverside", "park", "university quarter")

_KINDS: dict[str, tuple[tuple[str, str, float, int], ...]] = {
    "museums": (
        ("{city} City Museum", "How the city became what it is.", 2, 1200),
        ("Museum of Fine Arts, {city}", "Paintings of five centuries.", 3, 1500),
        ("{city} Museum of Design", "Chairs, posters and radios.", 2, 1000),
    ),
    "beaches": (
        ("{city} Main Beach", "Sand, showers and a promenade.", 4, 0),
        ("Quiet Cove near {city}", "Half an hour by bus; take water along.", 5, 0),
    ),
    "food": (
        ("{city} Market Walk", "A guide, ten stands, and lunch.", 3, 5500),
        ("Cooking Class in {city}", "Three courses of the region.", 4, 8500),
        ("Street Food of {city}", "Seven bites in the evening.", 2.5, 4200),
    ),
    "architecture": (
        ("{city} on Foot", "Two hundred years of facades.", 2.5, 2500),
        ("Inside the City Hall of {city}", "A tour of halls that are closed otherwise.", 1.5, 800),
    ),
    "nature": (
        ("Botanical Garden of {city}", "Glasshouses and a lake.", 2, 700),
        ("Day Hike from {city}", "Fourteen kilometres, with a guide.", 7, 4800),
    ),
    "nightlife": (
        ("Jazz Cellar, {city}", "Two sets a night.", 3, 2000),
        ("Rooftops of {city}", "Three bars and a view.", 4, 3500),
    ),
    "shopping": (
        ("{city} Flea Market", "On Sundays, from seven.", 2, 0),
        ("Makers of {city}", "Ceramics, leather and paper at the workshop.", 3, 0),
    ),
    "family": (
        ("{city} Zoo", "Also on rainy days.", 4, 2200),
        ("Science Centre {city}", "Everything may be touched.", 3, 1600),
    ),
}

_SIGHTS: dict[tuple[str, str], tuple[tuple[str, str, float, int], ...]] = {
    ("Barcelona", "museums"): (
        ("Museu Picasso", "His early years, in five palaces of the old town.", 2, 1500),
        ("Museu Nacional d'Art de Catalunya", "Romanesque frescoes, and a view from Montjuïc.", 3, 1200),
        ("Fundació Joan Miró", "Miró, in the light he wanted.", 2, 1500),
        ("MACBA", "Contemporary art in the Raval.", 2, 1200),
    ),
    ("Barcelona", "beaches"): (
        ("Barceloneta", "The city's beach, ten minutes from the old town.", 3, 0),
        ("Bogatell", "Wider, and calmer in the morning.", 3, 0),
        ("Ocata", "Half an hour by train, fine sand.", 5, 0),
    ),
    ("Barcelona", "food"): (
        ("La Boqueria", "The market on the Rambla; best before ten.", 1.5, 0),
        ("Tapas in El Born", "Four bars, with a guide.", 3, 6500),
        ("Paella by the Sea", "Cooking and eating it.", 4, 7800),
    ),
    ("Barcelona", "architecture"): (
        ("Sagrada Família", "Book the morning light, weeks ahead.", 2, 2600),
        ("Casa Batlló", "Gaudí's house of bones.", 1.5, 2900),
        ("Park Güell", "Mosaics above the city.", 2, 1000),
        ("Palau de la Música Catalana", "A concert hall of glass.", 1, 1800),
    ),
    ("Paris", "museums"): (
        ("Louvre", "Choose one wing.", 4, 2200),
        ("Musée d'Orsay", "Impressionists in a railway station.", 3, 1600),
    ),
    ("London", "museums"): (
        ("British Museum", "Two million years.", 3, 0),
        ("Tate Modern", "Art in a power station.", 2.5, 0),
    ),
    ("Rome", "architecture"): (
        ("Colosseum", "With the Forum, on one ticket.", 3, 1800),
        ("Pantheon", "Rain falls through the roof.", 1, 500),
    ),
    ("Madrid", "museums"): (("Museo del Prado", "Velázquez and Goya.", 3, 1500),),
    ("Oslo", "museums"): (("Munch", "Thirteen floors at the fjord.", 2.5, 1700),),
    ("Bridgetown", "beaches"): (("Carlisle Bay", "Turtles, and wrecks to dive to.", 4, 0),),
    ("New York", "museums"): (("Metropolitan Museum of Art", "Come on a Friday evening.", 4, 3000),),
    ("Tokyo", "food"): (("Tsukiji Outer Market", "Breakfast, standing.", 2, 3000),),
    ("San Francisco", "nature"): (("Lands End Trail", "Cliffs, and the bridge in fog.", 3, 0),),
}

PREFERENCES: dict[Region, dict[str, Any]] = {
    "europe": {
        "departure": "morning departure",
        "layovers": 1,
        "seat": "aisle",
        "room": "sea view",
        "airlines": ["Iberwing", "Nordvind"],
        "hotels": "boutique hotels within walking distance of the old town",
        "interests": ["architecture", "food", "museums"],
        "pace": "two things a day, long lunches",
        "night": 220,
    },
    "north-america": {
        "departure": "morning departure",
        "layovers": 0,
        "seat": "window",
        "room": "city view",
        "airlines": ["Liberty Air"],
        "hotels": "business hotels near a station",
        "interests": ["nature", "museums"],
        "pace": "early starts",
        "night": 240,
    },
    "caribbean": {
        "departure": "any departure",
        "layovers": 1,
        "seat": "window",
        "room": "sea view",
        "airlines": ["Trade Wind"],
        "hotels": "small hotels at a quiet beach",
        "interests": ["beaches", "food", "nature"],
        "pace": "slow",
        "night": 260,
    },
    "latin-america": {
        "departure": "evening departure",
        "layovers": 1,
        "seat": "aisle",
        "room": "garden view",
        "airlines": ["Cóndor Real"],
        "hotels": "old houses with a courtyard",
        "interests": ["food", "nightlife", "nature"],
        "pace": "late evenings, free mornings",
        "night": 140,
    },
    "asia": {
        "departure": "any departure",
        "layovers": 1,
        "seat": "aisle",
        "room": "city view",
        "airlines": ["Meridian Pacific"],
        "hotels": "quiet hotels near a subway",
        "interests": ["food", "architecture", "shopping"],
        "pace": "full days",
        "night": 190,
    },
    "middle-east": {
        "departure": "evening departure",
        "layovers": 1,
        "seat": "aisle",
        "room": "city view",
        "airlines": ["Oryx Gulf"],
        "hotels": "hotels with shade and a pool",
        "interests": ["architecture", "shopping"],
        "pace": "rest at noon",
        "night": 200,
    },
    "africa": {
        "departure": "any departure",
        "layovers": 1,
        "seat": "window",
        "room": "garden view",
        "airlines": ["Savanna Air"],
        "hotels": "lodges with a garden",
        "interests": ["nature", "food"],
        "pace": "early starts, long evenings",
        "night": 150,
    },
    "oceania": {
        "departure": "evening departure",
        "layovers": 2,
        "seat": "aisle",
        "room": "sea view",
        "airlines": ["Southern Star"],
        "hotels": "apartments with a kitchen",
        "interests": ["beaches", "nature", "family"],
        "pace": "a week per place",
        "night": 200,
    },
}
"""What the traveller likes, by part of the world. `night` is the most that a room may cost, in dollars."""


def _trip(title: str, cities: list[str], dates: tuple[str, str], cents: int, liked: list[str], not_again: str) -> Any:
    days = [f"{city}: {what}" for city, what in (each.split("/", 1) for each in liked)]
    return {
        "title": title,
        "cities": cities,
        "from": dates[0],
        "to": dates[1],
        "travelers": 2,
        "spent": f"{cents / 100:.2f}",
        "currency": "USD",
        "liked": days,
        "notAgain": not_again,
    }


TRIPS: dict[str, dict[str, Any]] = {
    "Spain-2023": _trip(
        "Two weeks in Spain",
        ["Madrid", "Barcelona"],
        ("2023-05-06", "2023-05-20"),
        487_050,
        ["Madrid/the Prado on a rainy Tuesday", "Barcelona/breakfast in El Born", "Barcelona/the train along the sea"],
        "four hours in a rented car on the day of arrival",
    ),
    "barcelona-2023": _trip(
        "Barcelona, the second week",
        ["Barcelona"],
        ("2023-05-13", "2023-05-20"),
        231_400,
        [
            "Barcelona/a small hotel near the Palau de la Música",
            "Barcelona/Sagrada Família at nine in the morning",
            "Barcelona/Bogatell before breakfast, paella after",
        ],
        "Park Güell at noon",
    ),
    "oslo-2024": _trip(
        "Midsummer in Oslo",
        ["Oslo"],
        ("2024-06-19", "2024-06-25"),
        298_800,
        ["Oslo/islands by public ferry", "Oslo/the opera's roof at eleven in the evening"],
        "a room without curtains",
    ),
    "barbados-2025": _trip(
        "A winter week on Barbados",
        ["Bridgetown"],
        ("2025-01-18", "2025-01-25"),
        364_925,
        ["Bridgetown/turtles in Carlisle Bay", "Bridgetown/fish fry on Friday"],
        "the last connection of the day through Miami",
    ),
    "tokyo-2025": _trip(
        "Tokyo in November",
        ["Tokyo"],
        ("2025-11-08", "2025-11-19"),
        612_300,
        ["Tokyo/standing breakfast at the market", "Tokyo/maple trees in the old gardens"],
        "three hotels in eleven days",
    ),
}
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
    row = (
        id,
        city.name,
        f"{name} {city.name}",
        stars,
        chance.choice(_STYLES),
        area,
        round(chance.uniform(6.8, 9.6), 1),
    )
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
            known = _SIGHTS.get((city.name, category), ())
            yield from ((city.name, category, *sight) for sight in known)
            for name, about, hours, cents in _KINDS[category][: 4 - len(known)]:
                price = int(cents * chance.uniform(0.7, 1.3)) // 50 * 50
                yield city.name, category, name.format(city=city.name), about, hours, price
