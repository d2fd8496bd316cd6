"""Bookings: three questions, a page to pay, one seat for one traveler; in both eras, whatever the user refuses."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from examples.travel import bookings, flights
from examples.travel.places import City, find_city
from examples.travel.seeding import hotels

from splice import Client, Extension, Heard, StdioServer
from splice.auth import Auth, StaticTokens
from splice.protocol.questions import ELICITATION_COMPLETE
from support.listening import listening
from support.raw_client import OverHTTP
from support.warm import warm_python
from support.wire import modern
from travel.agency import (
    BACK,
    CONTACT,
    FLIGHT,
    HOME,
    HOTEL,
    THERE,
    TODAY,
    User,
    agency,
    client_of,
    reference_of,
    refused,
    roots,
    seats_of,
    visit,
)

ERAS = ["modern", "legacy"]
SERVER = Path(__file__).parents[2] / "examples" / "travel" / "travel.py"
TRIP = {"outbound": FLIGHT, "inbound": HOME, "hotel": HOTEL}
STAY = {"hotel": HOTEL, "arrival": THERE, "departure": BACK}


@pytest.mark.parametrize("era", ERAS)
async def test_a_trip_is_confirmed_paid_written_down_and_cancelled(tmp_path: Path, era: str) -> None:
    user, folder = User(), tmp_path / "travel-planning"
    user.wishes["travelInsurance"] = True
    folder.mkdir()
    async with client_of(agency(tmp_path), era, user, roots=roots(folder)) as client:
        before = await seats_of(client, FLIGHT)
        result = await client.call_tool("bookTrip", TRIP)
        booked = result.structured_content
        given = {"reference": booked["reference"].lower()}
        assert (await client.call_tool("getBooking", given)).structured_content == booked
        assert await seats_of(client, FLIGHT) == before - 1
        written = await client.call_tool("writeItinerary", {**given, "file": "spain/barcelona.md"})
        cancelled = await client.call_tool("cancelBooking", given)
        assert await seats_of(client, FLIGHT) == before
        again = await client.call_tool("cancelBooking", given)
    assert user.steps == ["confirm", "contact", "pay", "cancel"]
    assert (booked["status"], booked["begins"], booked["paymentUrl"]) == ("confirmed", THERE, None)
    assert booked["details"]["contact"] == CONTACT
    assert (booked["details"]["roomType"], booked["details"]["seatPreference"]) == ("sea view", "aisle")
    assert "is confirmed and paid." in result.text
    form: Any = user.asked[0].requested_schema
    assert list(form["properties"]) == ["confirmBooking", "seatPreference", "roomType", "travelInsurance"]
    assert form["required"] == ["confirmBooking"]
    assert form["properties"]["seatPreference"]["enum"] == ["window", "aisle", "no preference"]
    assert set(form["properties"]["roomType"]["enum"]) == {"sea view", "city view", "garden view"}
    assert form["properties"]["travelInsurance"]["description"] == "Add travel insurance ($150.00)"
    assert form["properties"]["confirmBooking"]["description"].startswith("Confirm the booking (Flights + Hotel = $")
    assert user.asked[0].message.startswith("Please confirm your Barcelona vacation booking details:\n")
    assert f"${float(booked['total']):,.2f}" in user.asked[2].message
    assert (cancelled.structured_content["status"], cancelled.structured_content["refund"]) == (
        "cancelled",
        booked["total"],
    )
    assert again.structured_content == cancelled.structured_content
    assert written.structured_content["path"] == "spain/barcelona.md"
    text = (folder / "spain" / "barcelona.md").read_text()
    assert text.startswith("# Barcelona vacation, 2027-06-")
    assert r"- The hotel knows: a \*quiet\* room \# please" in text
    assert "Sagrada Família" in text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("step", ["confirm", "contact", "pay"])
@pytest.mark.parametrize(("action", "tool"), [("decline", "bookFlight"), ("cancel", "bookHotel")])
async def test_a_no_at_any_step_books_nothing(tmp_path: Path, era: str, step: str, action: str, tool: str) -> None:
    user = User(refuse={step: action})
    async with client_of(agency(tmp_path), era, user) as client:
        before = await client.call_tool("searchFlights", {"origin": "NYC", "destination": "BCN", "date": THERE})
        rooms = await client.call_tool("searchHotels", {"city": "BCN", "arrival": THERE, "departure": BACK})
        result = await client.call_tool(tool, {"flight": FLIGHT} if tool == "bookFlight" else STAY)
        assert await client.call_tool("searchFlights", {"origin": "NYC", "destination": "BCN", "date": THERE}) == before
        after = await client.call_tool("searchHotels", {"city": "BCN", "arrival": THERE, "departure": BACK})
        assert after.structured_content == rooms.structured_content
    assert user.steps[-1] == step
    assert not result.is_error
    assert result.text.startswith(f"Nothing was booked: the user {'declined' if action == 'decline' else 'cancelled'}")
    assert (result.structured_content["status"], result.structured_content["reference"]) == ("declined", None)


@pytest.mark.parametrize("era", ERAS)
async def test_an_unchecked_box_books_nothing_and_a_refused_cancellation_cancels_nothing(
    tmp_path: Path, era: str
) -> None:
    user = User(wishes={"confirmBooking": False})
    async with client_of(agency(tmp_path), era, user) as client:
        assert (await client.call_tool("bookFlight", {"flight": FLIGHT})).structured_content["status"] == "declined"
        assert user.steps == ["confirm"]
        user.wishes, user.refuse = {}, {"cancel": "decline"}
        booked = (await client.call_tool("bookHotel", STAY)).structured_content
        assert booked["details"]["roomType"] == "city view"  # the cheapest
        kept = await client.call_tool("cancelBooking", {"reference": booked["reference"]})
    assert kept.structured_content == booked
    assert "stands as it is" in kept.text


def day_with_one_seat() -> str:
    """Find a flight whose last seat is for sale."""
    origin, destination = find_city("NYC"), find_city("BCN")
    assert isinstance(origin, City)
    assert isinstance(destination, City)
    found = flights.options("splice", origin, destination, TODAY.replace(month=6, day=15))
    return next(option.id for option in found if option.seats == 1)


@pytest.mark.parametrize("era", ERAS)
async def test_the_last_seat_is_sold_once(tmp_path: Path, era: str) -> None:
    server, last = agency(tmp_path), day_with_one_seat()
    together = asyncio.Barrier(2)

    class Hasty(User):
        async def __call__(self, question: Any) -> Any:
            """Wait with the contact until the other one is as far."""
            answer = await super().__call__(question)
            if self.steps[-1] == "contact":
                await together.wait()
            return answer

    two = Client(server, protocol=era, on_elicit=Hasty(), can=["elicitation.url"])
    async with client_of(server, era, Hasty()) as one, two as other:
        results = await asyncio.gather(*(each.call_tool("bookFlight", {"flight": last}) for each in (one, other)))
        assert sorted(result.is_error or False for result in results) == [False, True]
        lost = next(result for result in results if result.is_error)
        assert f"Nothing was booked: meanwhile flight {last} has 0 seats left" in lost.text
        late = await one.call_tool("bookFlight", {"flight": last})
    assert f"{last} has 0 seats left for 1 travelers" in late.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_opens_no_links_is_given_one_to_show(tmp_path: Path, era: str) -> None:
    user = User()
    server = agency(tmp_path)
    async with client_of(server, era, on_elicit=user) as client:
        result = await client.call_tool("bookFlight", {"flight": FLIGHT})
        held = result.structured_content
        assert user.steps == ["confirm", "contact"]
        assert held["status"] == "held"
        assert held["paymentUrl"] in result.text
        status, page = await visit(held["paymentUrl"])
        assert (status, "Pay your booking" in page, held["reference"] in page) == (200, True, True)
        assert (await client.call_tool("getBooking", {"reference": held["reference"]})).structured_content[
            "status"
        ] == ("held")
        for _ in range(2):
            status, page = await visit(held["paymentUrl"], "POST")
            assert (status, "is confirmed" in page) == (200, True)
        paid = await client.call_tool("getBooking", {"reference": held["reference"]})
        assert paid.structured_content["status"] == "confirmed"
        assert (await visit(held["paymentUrl"][:-3] + "abc"))[0] == 404
        assert (await visit(held["paymentUrl"].replace("/pay", "/other")))[0] == 404
        assert (await visit(held["paymentUrl"], Host="evil.example"))[0] == 421


@pytest.mark.parametrize("era", ERAS)
async def test_who_pays_late_finds_the_booking_held(tmp_path: Path, era: str) -> None:
    async with client_of(agency(tmp_path, patience=0.0), era, User(pays=False)) as client:
        result = await client.call_tool("bookFlight", {"flight": FLIGHT})
        assert result.structured_content["status"] == "held"
        assert "look again with getBooking" in result.text
        await visit(result.structured_content["paymentUrl"], "POST")
        later = await client.call_tool("getBooking", {"reference": reference_of(result.text)})
    assert "is confirmed and paid" in later.text


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_without_a_user_books_nothing(tmp_path: Path, era: str) -> None:
    async with client_of(agency(tmp_path), era) as client:
        before = await seats_of(client, FLIGHT)
        assert "elicitation" in await refused(client, "bookFlight", flight=FLIGHT)
        assert await seats_of(client, FLIGHT) == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"inbound": "NYC-BCN-20270622-02"}, "leaves from New York (NYC), but the one there goes to Barcelona (BCN)"),
        ({"hotel": "madrid-1"}, "The hotel is in Madrid, but the flight goes to Barcelona (BCN)"),
        ({"inbound": "BCN-NYC-20270612-02"}, "before the one there arrives"),
        ({"travelers": 9}, "for 9 travelers. Take another option."),
        ({"outbound": "NYC-BCN-99991231-02"}, "There is no flight"),
    ],
)
async def test_parts_that_do_not_fit_are_told_before_anybody_is_asked(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    user = User()
    async with client_of(agency(tmp_path), "modern", user) as client:
        result = await client.call_tool("bookTrip", {**TRIP, **given})
    assert result.is_error
    assert said in result.text
    assert user.asked == []


async def test_three_guests_pay_two_rooms(tmp_path: Path) -> None:
    house = next(hotel for hotel in hotels("splice") if hotel.row[0] == HOTEL)
    async with client_of(agency(tmp_path), "modern", User(wishes={})) as client:
        booked = (await client.call_tool("bookHotel", {**STAY, "guests": 3})).structured_content
    room = booked["details"]["roomType"]
    usual = next(cents for _, kind, cents, _ in house.rooms if kind == room)
    stay = bookings.Stay(HOTEL, room, TODAY.replace(month=6, day=15), TODAY.replace(month=6, day=22), 2)
    assert booked["details"]["rooms"] == 2
    assert booked["total"] == f"{bookings.price_of(usual, stay) / 100:.2f}"


# Over HTTP.


@asynccontextmanager
async def served(tmp_path: Path) -> AsyncIterator[str]:
    server = agency(tmp_path)
    async with listening(server.http_app()) as url:
        yield url
    await server.service.close()


@pytest.mark.parametrize("protocol", ["modern", "2025-11-25", "2025-06-18"])
async def test_over_http_the_server_shows_the_page_itself(tmp_path: Path, protocol: str) -> None:
    user, heard = User(), list[str]()
    told = Extension[Any](
        "com.example/hearing", notes=[Heard(ELICITATION_COMPLETE, lambda note: heard.append(note.elicitation_id))]
    )
    async with served(tmp_path) as url:
        options: Any = {"on_elicit": user, "can": ["elicitation.url"], "extensions": [told]}
        async with Client(url, protocol=protocol, **options) as client:
            booked = (await client.call_tool("bookFlight", {"flight": FLIGHT})).structured_content
            if protocol == "2025-06-18":  # it has no links
                page = booked["paymentUrl"]
                assert booked["status"] == "held"
                assert (await visit(page, "POST", Origin=url.removesuffix("/mcp")))[0] == 200
                booked = (await client.call_tool("getBooking", {"reference": booked["reference"]})).structured_content
            else:
                page = user.asked[-1].url or ""
        assert booked["status"] == "confirmed"
        assert page.startswith(url.replace("/mcp", "/pay?id="))
        assert (await visit(page, "POST", Origin="http://evil.example"))[0] == 403
    assert heard == ([page.partition("=")[2]] if protocol == "2025-11-25" else [])


@pytest.mark.parametrize("era", ERAS)
async def test_on_stdio_a_listener_shows_the_page(tmp_path: Path, era: str) -> None:
    """The file as a host starts it: `splice run examples/travel/travel.py`."""
    day = datetime.now(UTC).date() + timedelta(days=100)
    user, place = User(), {"SPLICE_TRAVEL_DATA": str(tmp_path)}
    command = StdioServer(warm_python(), "-m", "splice.cli", "run", str(SERVER), cwd=tmp_path, env=place)
    async with Client(command, protocol=era, on_elicit=user, can=["elicitation.url"]) as client:
        result = await client.call_tool("bookFlight", {"flight": f"OSL-LON-{day:%Y%m%d}-03"})
    assert result.structured_content["status"] == "confirmed"
    assert (user.asked[-1].url or "").startswith("http://127.0.0.1:")
    assert (tmp_path / "travel.db").is_file()


async def test_a_booking_is_its_owners_where_callers_are_known(tmp_path: Path) -> None:
    server = agency(tmp_path)
    app = server.http_app(auth=Auth(StaticTokens({"token-of-ann-0123456789": "ann", "token-of-eve-0123456789": "eve"})))
    async with listening(app) as url:
        options: Any = {"on_elicit": User(), "can": ["elicitation.url"]}
        ann, eve = (Client(url, auth=f"token-of-{name}-0123456789", **options) for name in ("ann", "eve"))
        async with ann, eve:
            given = {
                "reference": (await ann.call_tool("bookFlight", {"flight": FLIGHT})).structured_content["reference"]
            }
            for tool in ("getBooking", "cancelBooking"):
                assert (await eve.call_tool(tool, given)).text.startswith("There is no booking")
            assert (await ann.call_tool("getBooking", given)).structured_content["status"] == "confirmed"
    await server.service.close()


async def test_a_request_that_is_repeated_books_nothing_twice(tmp_path: Path) -> None:
    """Each state opens for ten minutes: whoever sends the last request again gets the same booking."""
    can: dict[str, Any] = {"capabilities": {"elicitation": {"form": {}, "url": {}}}}
    params: Any = {"name": "bookFlight", "arguments": {"flight": FLIGHT}}
    sent: list[Any] = []
    async with served(tmp_path) as url:
        wire = OverHTTP(url)

        async def send(params: Any) -> Any:
            sent.append(json.loads(json.dumps(params)))
            return (await wire.ask(modern(len(sent), "tools/call", params, **can)))["result"]

        result = await send(params)
        while result["resultType"] == "input_required":
            ((key, question),) = result["inputRequests"].items()
            if question["params"].get("url"):
                await visit(question["params"]["url"], "POST")
            content = {"confirm": {"confirmBooking": True}, "contact": {"name": "Ann", "email": "a@example.org"}}
            answer = {"action": "accept", **({"content": content[key]} if key in content else {})}
            result = await send({**params, "requestState": result["requestState"], "inputResponses": {key: answer}})
        booked = result["structuredContent"]
        assert booked["status"] == "confirmed"
        assert (await send(sent[3]))["structuredContent"] == booked  # the last one
        repeated = await send(sent[2])  # the one before it asks to pay again, for the same booking
        assert booked["reference"] in repeated["inputRequests"]["pay"]["params"]["message"]
        refused = {
            **sent[3],
            "requestState": repeated["requestState"],
            "inputResponses": {"pay": {"action": "decline"}},
        }
        assert (await send(refused))["structuredContent"] == booked  # what is paid stays paid
        async with Client(url) as client:
            left = await seats_of(client, FLIGHT)
    option = flights.find_option("splice", FLIGHT)
    assert option is not None
    assert left == option.seats - 1
