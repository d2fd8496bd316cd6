"""The cities of the example: where they lie, by which codes they are known, and what a typed beginning may become.

A place has up to three names that people type: its own ("Barcelona"), that of an airport ("BCN") or of all its airports
("NYC"), and its label, which has both ("Barcelona (BCN)").
"""

import math
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

Region = Literal["europe", "north-america", "caribbean", "latin-america", "asia", "middle-east", "africa", "oceania"]
"""The parts of the world that preferences are kept for."""


@dataclass(frozen=True, slots=True)
class City:
    """A city. `airports` begins with the one that most flights use, and is empty where planes do not land."""

    name: str
    airports: tuple[str, ...]
    country: str
    region: Region
    latitude: float
    longitude: float
    zone: str
    metropolitan: str = ""  # the code of all its airports together
    airport_name: str = ""  # what its airport is called in lists, where that is not the city's name

    @property
    def code(self) -> str:
        """The code that stands for the city: that of all its airports, or of the only one. Empty without airport."""
        return self.metropolitan or (self.airports[0] if self.airports else "")

    @property
    def label(self) -> str:
        """How the city stands in a list of airports: "Barcelona (BCN)"; its name alone where planes do not land."""
        return f"{self.airport_name or self.name} ({self.code})" if self.code else self.name


CITIES = (
    City("Accra", ("ACC",), "Ghana", "africa", 5.56, -0.20, "Africa/Accra"),
    City("Amsterdam", ("AMS",), "Netherlands", "europe", 52.37, 4.90, "Europe/Amsterdam"),
    City("Athens", ("ATH",), "Greece", "europe", 37.98, 23.73, "Europe/Athens"),
    City("Atlanta", ("ATL",), "United States", "north-america", 33.75, -84.39, "America/New_York"),
    City("Auckland", ("AKL",), "New Zealand", "oceania", -36.85, 174.76, "Pacific/Auckland"),
    City("Bangkok", ("BKK", "DMK"), "Thailand", "asia", 13.76, 100.50, "Asia/Bangkok"),
    City("Barcelona", ("BCN",), "Spain", "europe", 41.39, 2.17, "Europe/Madrid"),
    City("Berlin", ("BER",), "Germany", "europe", 52.52, 13.41, "Europe/Berlin"),
    City("Bogotá", ("BOG",), "Colombia", "latin-america", 4.71, -74.07, "America/Bogota"),
    City("Boston", ("BOS",), "United States", "north-america", 42.36, -71.06, "America/New_York"),
    City("Bridgetown", ("BGI",), "Barbados", "caribbean", 13.10, -59.62, "America/Barbados", airport_name="Barbados"),
    City("Brussels", ("BRU",), "Belgium", "europe", 50.85, 4.35, "Europe/Brussels"),
    City("Budapest", ("BUD",), "Hungary", "europe", 47.50, 19.04, "Europe/Budapest"),
    City(
        "Buenos Aires",
        ("EZE", "AEP"),
        "Argentina",
        "latin-america",
        -34.60,
        -58.38,
        "America/Argentina/Buenos_Aires",
        metropolitan="BUE",
    ),
    City("Cairo", ("CAI",), "Egypt", "africa", 30.04, 31.24, "Africa/Cairo"),
    City("Cape Town", ("CPT",), "South Africa", "africa", -33.92, 18.42, "Africa/Johannesburg"),
    City("Chicago", ("ORD", "MDW"), "United States", "north-america", 41.88, -87.63, "America/Chicago", "CHI"),
    City("Copenhagen", ("CPH",), "Denmark", "europe", 55.68, 12.57, "Europe/Copenhagen"),
    City("Delhi", ("DEL",), "India", "asia", 28.61, 77.21, "Asia/Kolkata"),
    City("Denver", ("DEN",), "United States", "north-america", 39.74, -104.99, "America/Denver"),
    City("Dubai", ("DXB",), "United Arab Emirates", "middle-east", 25.20, 55.27, "Asia/Dubai"),
    City("Dublin", ("DUB",), "Ireland", "europe", 53.35, -6.26, "Europe/Dublin"),
    City("Edinburgh", ("EDI",), "United Kingdom", "europe", 55.95, -3.19, "Europe/London"),
    City("Frankfurt", ("FRA",), "Germany", "europe", 50.11, 8.68, "Europe/Berlin"),
    City("Geneva", ("GVA",), "Switzerland", "europe", 46.20, 6.14, "Europe/Zurich"),
    City("Havana", ("HAV",), "Cuba", "caribbean", 23.11, -82.37, "America/Havana"),
    City("Helsinki", ("HEL",), "Finland", "europe", 60.17, 24.94, "Europe/Helsinki"),
    City("Hong Kong", ("HKG",), "China", "asia", 22.32, 114.17, "Asia/Hong_Kong"),
    City("Honolulu", ("HNL",), "United States", "oceania", 21.31, -157.86, "Pacific/Honolulu"),
    City("Istanbul", ("IST", "SAW"), "Turkey", "europe", 41.01, 28.98, "Europe/Istanbul"),
    City("Johannesburg", ("JNB",), "South Africa", "africa", -26.20, 28.05, "Africa/Johannesburg"),
    City("Lima", ("LIM",), "Peru", "latin-america", -12.05, -77.04, "America/Lima"),
    City("Lisbon", ("LIS",), "Portugal", "europe", 38.72, -9.14, "Europe/Lisbon"),
    City(
        "London",
        ("LHR", "LGW", "STN", "LTN", "LCY"),
        "United Kingdom",
        "europe",
        51.51,
        -0.13,
        "Europe/London",
        metropolitan="LON",
    ),
    City("Los Angeles", ("LAX",), "United States", "north-america", 34.05, -118.24, "America/Los_Angeles"),
    City("Madrid", ("MAD",), "Spain", "europe", 40.42, -3.70, "Europe/Madrid"),
    City("Marrakesh", ("RAK",), "Morocco", "africa", 31.63, -7.99, "Africa/Casablanca"),
    City("Melbourne", ("MEL",), "Australia", "oceania", -37.81, 144.96, "Australia/Melbourne"),
    City("Mexico City", ("MEX",), "Mexico", "latin-america", 19.43, -99.13, "America/Mexico_City"),
    City("Miami", ("MIA",), "United States", "north-america", 25.76, -80.19, "America/New_York"),
    City("Milan", ("MXP", "LIN", "BGY"), "Italy", "europe", 45.46, 9.19, "Europe/Rome", metropolitan="MIL"),
    City("Montego Bay", ("MBJ",), "Jamaica", "caribbean", 18.47, -77.92, "America/Jamaica"),
    City("Montreal", ("YUL",), "Canada", "north-america", 45.50, -73.57, "America/Toronto"),
    City("Munich", ("MUC",), "Germany", "europe", 48.14, 11.58, "Europe/Berlin"),
    City("Nairobi", ("NBO",), "Kenya", "africa", -1.29, 36.82, "Africa/Nairobi"),
    City("Nassau", ("NAS",), "Bahamas", "caribbean", 25.05, -77.36, "America/Nassau"),
    City(
        "New York",
        ("JFK", "EWR", "LGA"),
        "United States",
        "north-america",
        40.71,
        -74.01,
        "America/New_York",
        metropolitan="NYC",
    ),
    City("Oslo", ("OSL",), "Norway", "europe", 59.91, 10.75, "Europe/Oslo"),
    City("Paris", ("CDG", "ORY"), "France", "europe", 48.86, 2.35, "Europe/Paris", metropolitan="PAR"),
    City("Park City", (), "United States", "north-america", 40.65, -111.50, "America/Denver"),
    City("Prague", ("PRG",), "Czechia", "europe", 50.08, 14.44, "Europe/Prague"),
    City("Punta Cana", ("PUJ",), "Dominican Republic", "caribbean", 18.58, -68.40, "America/Santo_Domingo"),
    City("Reykjavik", ("KEF",), "Iceland", "europe", 64.15, -21.94, "Atlantic/Reykjavik"),
    City(
        "Rio de Janeiro",
        ("GIG", "SDU"),
        "Brazil",
        "latin-america",
        -22.91,
        -43.17,
        "America/Sao_Paulo",
        metropolitan="RIO",
    ),
    City("Rome", ("FCO", "CIA"), "Italy", "europe", 41.90, 12.50, "Europe/Rome", metropolitan="ROM"),
    City("Salt Lake City", ("SLC",), "United States", "north-america", 40.76, -111.89, "America/Denver"),
    City("San Francisco", ("SFO",), "United States", "north-america", 37.77, -122.42, "America/Los_Angeles"),
    City("San Juan", ("SJU",), "Puerto Rico", "caribbean", 18.47, -66.11, "America/Puerto_Rico"),
    City("Seattle", ("SEA",), "United States", "north-america", 47.61, -122.33, "America/Los_Angeles"),
    City("Seoul", ("ICN", "GMP"), "South Korea", "asia", 37.57, 126.98, "Asia/Seoul", metropolitan="SEL"),
    City("Singapore", ("SIN",), "Singapore", "asia", 1.35, 103.82, "Asia/Singapore"),
    City("Stockholm", ("ARN", "BMA"), "Sweden", "europe", 59.33, 18.07, "Europe/Stockholm", metropolitan="STO"),
    City("Sydney", ("SYD",), "Australia", "oceania", -33.87, 151.21, "Australia/Sydney"),
    City("Tokyo", ("HND", "NRT"), "Japan", "asia", 35.68, 139.69, "Asia/Tokyo", metropolitan="TYO"),
    City("Toronto", ("YYZ", "YTZ"), "Canada", "north-america", 43.65, -79.38, "America/Toronto", metropolitan="YTO"),
    City("Vancouver", ("YVR",), "Canada", "north-america", 49.28, -123.12, "America/Vancouver"),
    City("Vienna", ("VIE",), "Austria", "europe", 48.21, 16.37, "Europe/Vienna"),
    City("Zurich", ("ZRH",), "Switzerland", "europe", 47.37, 8.54, "Europe/Zurich"),
)
"""In the order of their names."""

REGIONS: tuple[Region, ...] = get_args(Region)


def find_city(typed: str) -> City | None:
    """Find the city of a code ("BCN", "NYC", "JFK"), a name ("Barcelona", "bogota") or a label; None if none."""
    return _names().get(fold(typed))


def complete_airports(typed: str) -> list[str]:
    """Complete a beginning to labels: "Bar" to "Barcelona (BCN)" and "Barbados (BGI)". Only cities with airports."""
    return [city.label for city in _beginning(typed) if city.airports]


def complete_cities(typed: str) -> list[str]:
    """Complete a typed beginning to names of cities: "Par" to "Paris" and "Park City"."""
    return [city.name for city in _beginning(typed)]


def distance(one: City, other: City) -> float:
    """Tell the distance of two cities in kilometres, along the great circle."""
    north, south = math.radians(one.latitude), math.radians(other.latitude)
    apart = math.radians(other.longitude - one.longitude)
    cosine = math.sin(north) * math.sin(south) + math.cos(north) * math.cos(south) * math.cos(apart)
    return 6371.0 * math.acos(max(-1.0, min(1.0, cosine)))


def nearest_airport(city: City) -> City:
    """Give the city that one flies to: the city itself, if planes land there."""
    return (
        city
        if city.airports
        else min((each for each in CITIES if each.airports), key=lambda each: distance(city, each))
    )


def fold(text: str) -> str:
    """Make a text comparable: without accents, case and needless spaces."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return " ".join(plain.casefold().split())


def _beginning(typed: str) -> list[City]:
    """Find what begins as typed: first by the city's name, then by that of its airport, then by a code."""
    beginning = fold(typed)
    found: list[City] = []
    for kind in range(3):
        fits = [city for city in CITIES if any(text.startswith(beginning) for text in _texts(city)[kind])]
        found += [city for city in fits if city not in found]
    return found


@cache
def _texts(city: City) -> tuple[list[str], ...]:
    """Give what people type for a city: its names, that of its airport, and codes."""
    airport, codes = [city.airport_name], [city.metropolitan, *city.airports]
    return [fold(city.name), fold(city.label)], *([fold(text) for text in each if text] for each in (airport, codes))


@cache
def _names() -> dict[str, City]:
    """Every text that names a city. Names win over codes."""
    kinds = [[(text, city) for city in CITIES for text in _texts(city)[kind]] for kind in (2, 1, 0)]
    return {text: city for kind in kinds for text, city in kind}
