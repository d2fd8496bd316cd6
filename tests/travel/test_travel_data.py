"""The data of the travel example: 47 options on any day, the same for everybody, built once however many build it."""

import asyncio
import sqlite3
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest
from examples.travel import bookings, data, flights, places, seeding
from examples.travel.places import CITIES, complete_airports, complete_cities, find_city

from support.warm import warm_python

ROOT = Path(__file__).parents[2]
NYC, BCN = "New York", "Barcelona"


def city(name: str) -> places.City:
    found = find_city(name)
    assert found is not None
    return found


def test_what_is_typed_is_completed() -> None:
    assert complete_airports("Bar") == ["Barcelona (BCN)", "Barbados (BGI)"]
    assert complete_cities("Par") == ["Paris", "Park City"]
    assert complete_airports("par") == ["Paris (PAR)"]  # nobody lands in Park City
    assert complete_airports("jf") == ["New York (NYC)"]
    assert complete_airports("xq") == []
    assert len(complete_cities("")) == len(CITIES)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("NYC", NYC),
        ("lga", NYC),
        (" new  york ", NYC),
        ("Barcelona (BCN)", BCN),
        ("Barbados", "Bridgetown"),
        ("barbados (bgi)", "Bridgetown"),
        ("bogota", "Bogotá"),
    ],
)
def test_a_city_has_many_names(typed: str, name: str) -> None:
    assert city(typed).name == name


def test_there_are_47_options_on_any_day() -> None:
    days = [date(2027, 1, 1) + timedelta(days=number) for number in range(0, 730, 23)]
    days += [date(2027, 3, 14), date(2027, 3, 28), date(2027, 10, 31), date(2028, 2, 29)]  # clocks change; a leap day
    for day in days:
        for origin, destination in ((city(NYC), city(BCN)), (city(BCN), city(NYC))):
            found = flights.options("splice", origin, destination, day)
            assert len({option.id for option in found}) == len(found) == 47
            assert {option.stops for option in found} == {0, 1, 2}
            assert all(option.departs.date() == day for option in found)


def test_flights_can_be_flown() -> None:
    chance = Random(5)
    for origin, destination in (chance.sample([each for each in CITIES if each.airports], 2) for _ in range(12)):
        found = flights.options("splice", origin, destination, date(2027, 3, 28))
        assert 8 <= len(found) <= 47
        for option in found:
            assert option.legs[0].origin in origin.airports
            assert option.legs[-1].destination in destination.airports
            assert all(leg.departs < leg.arrives for leg in option.legs)
            assert all(55 <= minutes < 250 for _, minutes in option.layovers)
            assert option.cents > 3000
            assert 1 <= option.seats <= 9
            assert flights.find_option("splice", option.id) == option


def test_ids_of_flights_are_checked() -> None:
    odd = ["", "NYC", "NYC-BCN-20270615", "NYC-BCN-20270615-48", "NYC-NYC-20270615-01", "NYC-BCN-20270231-01"]
    odd += ["NYC-XXX-20270615-01", "NYC-BCN-٢٠٢٧٠٦١٥-01", "NYC-BCN-00000000-01", "NYC-BCN-20270615-0x", "a-b-c-d-e"]
    assert [id for id in odd if flights.find_option("splice", id)] == []


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as db:
        return list(db.iterdump())


def test_the_same_seed_gives_the_same_data(tmp_path: Path) -> None:
    for name, seed in (("a", "one"), ("b", "one"), ("c", "two")):
        data.build(tmp_path / name, seed)
    assert dump(tmp_path / "a") == dump(tmp_path / "b") != dump(tmp_path / "c")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    told = "from examples.travel import flights, places as p; from datetime import date; f = p.find_city; "
    told += "print(flights.options('one', f('NYC'), f('BCN'), date(2027, 6, 15)))"
    environment = {"PYTHONHASHSEED": "1"}  # this process has a seed of its own
    elsewhere = subprocess.check_output([sys.executable, "-c", told], cwd=ROOT, env=environment, text=True)
    assert elsewhere.strip() == str(flights.options("one", city(NYC), city(BCN), date(2027, 6, 15)))


def test_a_file_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "travel.db"
    data.build(path)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 0")
        db.execute("DELETE FROM hotels WHERE city = 'Paris'")
    db.close()
    data.build(path)
    with data.reading(path) as now:
        assert now.execute("SELECT count(*) FROM hotels WHERE city = 'Paris'").fetchone()[0] >= 6


def test_every_city_has_hotels_and_something_to_do(tmp_path: Path) -> None:
    data.build(tmp_path / "db")
    with data.reading(tmp_path / "db") as db:
        for each in CITIES:
            hotels = db.execute("SELECT count(*) FROM hotels WHERE city = ?", (each.name,)).fetchone()[0]
            found = {row[0] for row in db.execute("SELECT category FROM activities WHERE city = ?", (each.name,))}
            beaches = set() if each.name in seeding.COASTAL else {"beaches"}
            assert hotels >= 6
            assert found == set(seeding.CATEGORIES) - beaches
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            db.execute("DELETE FROM hotels")


RACE = """
import sys
from datetime import date
from pathlib import Path
from examples.travel import bookings, data
path, flight, name = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.stdin.readline()
data.build(path)
draft = bookings.Draft("flight", 100, date(2027, 6, 15), (flight,))
try:
    print(bookings.hold(path, name, name, "", draft, 0.0).status)
except bookings.SoldOut as error:
    print(error)
"""


async def test_processes_that_build_at_once_share_one_database_and_sell_the_last_seat_once(tmp_path: Path) -> None:
    found = flights.options("splice", city(NYC), city(BCN), date(2027, 6, 15))
    last = next(option.id for option in found if option.seats == 1)
    command = [warm_python(), "-c", RACE, str(tmp_path / "db"), last]
    pipe = asyncio.subprocess.PIPE
    racers = [
        await asyncio.create_subprocess_exec(*command, f"R{number}", cwd=ROOT, stdin=pipe, stdout=pipe)
        for number in range(3)
    ]
    said = [(await each)[0].decode().strip() for each in [racer.communicate(b"\n") for racer in racers]]
    assert sorted(said) == [f"flight {last} has 0 seats left, and 1 are wanted"] * 2 + ["held"]
    with data.reading(tmp_path / "db") as db:
        assert db.execute("SELECT count(*) FROM hotels").fetchone()[0] > 6 * len(CITIES)


def test_a_hold_ends_and_a_late_payment_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "db"
    data.build(path)
    stay = bookings.Stay("barcelona-1", "city view", date(2027, 6, 15), date(2027, 6, 18))
    with data.reading(path) as db:
        left = bookings.rooms_left(db, "splice", stay, 0.0)
        usual = db.execute("SELECT cents FROM rooms WHERE hotel = ? AND type = ?", (stay.hotel, stay.room)).fetchone()[
            0
        ]
    assert left >= 1
    assert bookings.price_of(usual, stay) > usual * 3  # it is June
    draft = bookings.Draft("hotel", 100, stay.arrival, stay=stay)
    for number in range(left):
        assert bookings.hold(path, f"A{number}", f"A{number}", "", draft, 0.0).status == "held"
    assert bookings.hold(path, "A0", "A0", "", draft, 1.0).status == "held"  # the same once more
    with pytest.raises(bookings.SoldOut, match="barcelona-1 has 0 rooms with city view left, and 1 are wanted"):
        bookings.hold(path, "B", "B", "", draft, 1.0)
    late = bookings.HOLD_SECONDS + 1.0
    assert bookings.hold(path, "B", "B", "", draft, late).status == "held"
    paid = bookings.pay(path, "A0", late)
    assert paid is not None
    assert paid.status == "expired"
    assert bookings.find(path, "A0", "somebody else", late) is None
