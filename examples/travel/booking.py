"""The tools that book: the user confirms in a form, says who travels, and pays on a page. Whatever they refuse ends it.

Since 2026-07-28 a tool runs once more for each answer. What must not happen twice is in `ctx.once`: the reference and
the link are chosen first, the offer is made once, seats and rooms are held once. A request that is repeated as a whole
finds its booking under the reference, so nothing is booked twice either.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

import asyncio
import datetime as dt
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from splice import Context, Server, ToolError
from splice.errors import MissingClientCapability
from splice.types import CallToolResult, ToolAnnotations

from . import bookings, shapes
from .bookings import Booking, Draft, Stay
from .desk import Desk, airport_city, owner_of, rooms_for
from .flights import Option

INSURANCE = 15_000
"""What travel insurance costs, in cents."""

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Of references: none that is taken for another one."""

LOOK_SECONDS = 0.2
"""How often a booking looks whether it was paid."""

SEATS = ["window", "aisle", "no preference"]

CONTACT = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Who travels, as in the passport"},
        "email": {"type": "string", "format": "email", "description": "Where the tickets go"},
        "phone": {"type": "string", "maxLength": 40, "description": "For changes on the way"},
        "emergencyContact": {"type": "string", "maxLength": 200, "description": "Whom to call if something happens"},
        "specialRequests": {"type": "string", "maxLength": 500, "description": "What the hotel should know"},
    },
    "required": ["name", "email"],
}

Travelers = Annotated[int, Meta(ge=1, le=9, description="How many people fly")]
FlightId = Annotated[str, Meta(description="The id of an option of `searchFlights`", examples=["NYC-BCN-20270615-02"])]
HotelId = Annotated[str, Meta(description="The id of a hotel of `searchHotels`", examples=["barcelona-1"])]
Reference = Annotated[str, Meta(description="The reference of a booking", examples=["K7Q2MXPA"])]

BOOKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CANCELS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class Offer(Struct):
    """What the user is asked to confirm. It is made once, and does not change between two questions."""

    kind: Literal["flight", "hotel", "trip"]
    title: str
    message: str
    begins: dt.date
    lines: list[str]
    flights: list[str] = []
    flight_cents: int = 0
    travelers: int = 1
    hotel_name: str = ""
    stay: Stay | None = None
    rooms: dict[str, int] = {}
    """What each free type of room costs for the whole stay, the cheapest first."""


def add(server: Server) -> None:
    """Offer the tools."""
    schema = shapes.schema_of(shapes.Booked)
    tools: list[tuple[Callable[..., Any], str, str, ToolAnnotations]] = [
        (book_trip, "bookTrip", "Book a trip", BOOKS),
        (book_flight, "bookFlight", "Book a flight", BOOKS),
        (book_hotel, "bookHotel", "Book a hotel", BOOKS),
        (get_booking, "getBooking", "Look at a booking", LOOKS),
        (cancel_booking, "cancelBooking", "Cancel a booking", CANCELS),
    ]
    for fn, name, title, annotations in tools:
        server.add_tool(fn, name=name, title=title, annotations=annotations, output_schema=schema)


async def book_trip(
    outbound: Annotated[str, Meta(description="The flight there: an id of `searchFlights`")],
    inbound: Annotated[str, Meta(description="The flight back: an id of `searchFlights`")],
    hotel: HotelId,
    ctx: Context[Desk],
    travelers: Travelers = 1,
) -> CallToolResult:
    """Book flights there and back and a hotel between them. The user confirms, gives a contact and pays on a page."""

    def offer() -> Offer:
        there, back, house = desk.option(outbound, travelers), desk.option(inbound, travelers), desk.hotel(hotel)
        _check_trip(there, back, house["city"])
        arrival, departure = there.arrives.date(), back.departs.date()
        return Offer(
            kind="trip",
            title=f"{house['city']} vacation, {arrival} to {departure}",
            message=f"Please confirm your {house['city']} vacation booking details:",
            begins=there.departs.date(),
            lines=[shapes.flight_line(there), shapes.flight_line(back), _house_line(house, arrival, departure)],
            travelers=travelers,
            flights=[there.id, back.id],
            flight_cents=(there.cents + back.cents) * travelers,
            **_stay(desk, house, arrival, departure, travelers),
        )

    desk = ctx.lifespan
    return await _book(ctx, offer)


async def book_flight(flight: FlightId, ctx: Context[Desk], travelers: Travelers = 1) -> CallToolResult:
    """Book one flight. The user confirms, gives a contact and pays on a page."""

    def offer() -> Offer:
        option = desk.option(flight, travelers)
        way = f"{option.legs[0].origin} to {option.legs[-1].destination}"
        return Offer(
            kind="flight",
            title=f"Flight {way}, {option.departs.date()}",
            message=f"Please confirm your flight from {way}:",
            begins=option.departs.date(),
            lines=[shapes.flight_line(option)],
            travelers=travelers,
            flights=[option.id],
            flight_cents=option.cents * travelers,
        )

    desk = ctx.lifespan
    return await _book(ctx, offer)


async def book_hotel(
    hotel: HotelId,
    arrival: Annotated[dt.date, Meta(description="First night")],
    departure: Annotated[dt.date, Meta(description="Day of leaving")],
    ctx: Context[Desk],
    guests: Annotated[int, Meta(ge=1, le=9, description="How many people; two share a room")] = 2,
) -> CallToolResult:
    """Book rooms for all nights of a stay. The user confirms, gives a contact and pays on a page."""

    def offer() -> Offer:
        house = desk.hotel(hotel)
        return Offer(
            kind="hotel",
            title=f"{house['name']}, {arrival} to {departure}",
            message=f"Please confirm your stay at {house['name']}:",
            begins=arrival,
            lines=[_house_line(house, arrival, departure)],
            travelers=guests,
            **_stay(desk, house, arrival, departure, guests),
        )

    desk = ctx.lifespan
    return await _book(ctx, offer)


def get_booking(reference: Reference, ctx: Context[Desk]) -> CallToolResult:
    """Look at a booking: whether it is held, confirmed or cancelled, and what was booked."""
    return _told(ctx.lifespan.booking(reference, owner_of(ctx)))


async def cancel_booking(reference: Reference, ctx: Context[Desk]) -> CallToolResult:
    """Cancel a booking, if the user agrees. Free until two weeks before it begins; half the price comes back later."""
    desk, owner = ctx.lifespan, owner_of(ctx)
    booking = await asyncio.to_thread(desk.booking, reference, owner)
    if booking.status not in {"held", "confirmed"}:
        return _told(booking)
    back = shapes.dollars(bookings.refund(booking, desk.today()))
    question = f"Cancel booking {booking.reference} ({booking.details['title']})? You get back {back}."
    if not (await ctx.elicit(question, key="cancel")).accepted:
        return _told(booking, f"The user did not agree: booking {booking.reference} stands as it is.")
    await asyncio.to_thread(bookings.cancel, desk.path, booking.reference, owner, desk.today(), desk.clock())
    return _told(await asyncio.to_thread(desk.booking, reference, owner))


async def _book(ctx: Context[Desk], make: Callable[[], Offer]) -> CallToolResult:
    """Ask, hold, and send the user to pay. Raises `ToolError` where something was sold meanwhile."""
    desk, owner = ctx.lifespan, owner_of(ctx)
    reference, payment = await ctx.once(_names, key="names")
    made = await ctx.once(asyncio.to_thread, lambda: msgspec.to_builtins(make()), key="offer")
    offer = msgspec.convert(made, Offer)
    wish = await ctx.elicit("\n".join([offer.message, *offer.lines]), _form(offer), key="confirm")
    if not wish.accepted or not wish.data["confirmBooking"]:
        return _nothing(offer, wish.action if not wish.accepted else "decline")
    contact = await ctx.elicit("Who travels, and how do we reach you?", CONTACT, key="contact")
    if not contact.accepted:
        return _nothing(offer, contact.action)
    draft = _draft(offer, wish.data, contact.data)
    await ctx.once(asyncio.to_thread, lambda: _hold(desk, reference, payment, owner, draft), key="hold")
    url = await ctx.once(desk.payments.url, payment, ctx.headers, key="url")
    try:
        visit = await ctx.elicit_url(_pay(reference, draft), url, id=payment, key="pay")
    except MissingClientCapability:
        booking = await asyncio.to_thread(desk.booking, reference, owner)
        return _told(booking, f"{_pay(reference, draft)} This client cannot open links: show the user {url}", url)
    if not visit.accepted:
        left = await asyncio.to_thread(bookings.release, desk.path, reference, owner, desk.clock())
        return _told(left) if left and left.status == "confirmed" else _nothing(offer, visit.action)
    booking = await _paid(ctx, reference)
    return _told(booking, payment_url=url if booking.status == "held" else None)


def _names() -> list[str]:
    """Choose the reference of a booking, and the token of the link to pay it."""
    return ["".join(secrets.choice(LETTERS) for _ in range(8)), secrets.token_urlsafe(24)]


def _house_line(house: dict[str, Any], arrival: dt.date, departure: dt.date) -> str:
    return f"{house['name']}, {house['stars']} stars, {house['area']}, {(departure - arrival).days} nights"


def _stay(desk: Desk, house: dict[str, Any], arrival: dt.date, departure: dt.date, guests: int) -> dict[str, Any]:
    """Give the part of an offer that is a hotel. Raises `ToolError` where it is full."""
    desk.nights(arrival, departure)
    rooms = desk.free_rooms(house, arrival, departure, guests)
    if not rooms:
        raise ToolError(f"{house['name']} has no rooms for {guests} from {arrival} to {departure}. Take another hotel.")
    return {
        "hotel_name": house["name"],
        "stay": Stay(house["id"], "", arrival, departure, rooms_for(guests)),
        "rooms": {kind: cents for kind, (cents, _) in rooms.items()},
    }


def _check_trip(there: Option, back: Option, city: str) -> None:
    """Check that the parts of a trip are one. Raises `ToolError`."""
    target = airport_city(there.legs[-1].destination, "destination")
    start = airport_city(back.legs[0].origin, "origin")
    if target != start:
        raise ToolError(f"The flight back leaves from {start.label}, but the one there goes to {target.label}.")
    if city != target.name:
        raise ToolError(f"The hotel is in {city}, but the flight goes to {target.label}. Search hotels there.")
    if back.departs <= there.arrives:
        raise ToolError(f"The flight back leaves at {back.departs}, before the one there arrives at {there.arrives}.")


def _form(offer: Offer) -> dict[str, Any]:
    """Make the form that the user confirms."""
    least = min(offer.rooms.values(), default=0)
    parts = {"flight": "Flight", "hotel": "Hotel", "trip": "Flights + Hotel"}[offer.kind]
    total = shapes.dollars(offer.flight_cents + least)
    fields: dict[str, Any] = {
        "confirmBooking": {"type": "boolean", "description": f"Confirm the booking ({parts} = {total})"}
    }
    if offer.flights:
        about = "Preferred seat type for flights"
        fields["seatPreference"] = {"type": "string", "enum": SEATS, "description": about}
    if offer.rooms:
        prices = ", ".join(f"{kind} +{shapes.dollars(cents - least)}" for kind, cents in offer.rooms.items())
        about = f"Preferred room type at hotel ({prices})"
        fields["roomType"] = {"type": "string", "enum": list(offer.rooms), "description": about}
    about = f"Add travel insurance ({shapes.dollars(INSURANCE)})"
    fields["travelInsurance"] = {"type": "boolean", "default": False, "description": about}
    return {"type": "object", "properties": fields, "required": ["confirmBooking"]}


def _draft(offer: Offer, wish: dict[str, Any], contact: dict[str, Any]) -> Draft:
    """Put together what is to be booked. Who has no wish gets the cheapest room."""
    room: str = wish.get("roomType") or next(iter(offer.rooms), "")
    insured = bool(wish.get("travelInsurance"))
    cents = offer.flight_cents + offer.rooms.get(room, 0) + INSURANCE * insured
    details: dict[str, Any] = {"title": offer.title, "lines": offer.lines, "contact": contact}
    details |= {"travelInsurance": insured, "travelers": offer.travelers}
    if offer.flights:
        details |= {"flights": offer.flights, "seatPreference": wish.get("seatPreference", "no preference")}
    stay = offer.stay and replace(offer.stay, room=room)
    if stay is not None:
        details |= {"hotel": stay.hotel, "hotelName": offer.hotel_name, "roomType": room, "rooms": stay.rooms}
        details |= {"arrival": str(stay.arrival), "departure": str(stay.departure)}
    return Draft(offer.kind, cents, offer.begins, tuple(offer.flights), offer.travelers, stay, details)


def _hold(desk: Desk, reference: str, payment: str, owner: str, draft: Draft) -> str:
    try:
        return bookings.hold(desk.path, reference, payment, owner, draft, desk.clock()).status
    except bookings.SoldOut as error:
        raise ToolError(f"Nothing was booked: meanwhile {error}. Search again.") from None


def _pay(reference: str, draft: Draft) -> str:
    minutes = int(bookings.HOLD_SECONDS // 60)
    return f"Please pay {shapes.dollars(draft.cents)} for booking {reference}; it is held for {minutes} minutes."


async def _paid(ctx: Context[Desk], reference: str) -> Booking:
    """Wait for the payment, as long as the server is patient."""
    desk, owner = ctx.lifespan, owner_of(ctx)
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        booking, waited = await asyncio.to_thread(desk.booking, reference, owner), loop.time() - began
        if booking.status != "held" or waited >= desk.patience:
            return booking
        await ctx.progress(waited, desk.patience, "waiting for the payment")
        await asyncio.sleep(LOOK_SECONDS)


def _nothing(offer: Offer, action: str) -> CallToolResult:
    cents = offer.flight_cents + min(offer.rooms.values(), default=0)
    value = shapes.Booked("declined", None, offer.title, shapes.money(cents), "USD", offer.begins, {}, "0.00")
    did = "declined" if action == "decline" else "cancelled"
    return shapes.told(f"Nothing was booked: the user {did}. Ask what they would rather have.", value)


def _told(booking: Booking, text: str = "", payment_url: str | None = None) -> CallToolResult:
    title, total = booking.details["title"], shapes.dollars(booking.cents)
    said = {
        "held": "is held and not paid yet; look again with getBooking",
        "confirmed": "is confirmed and paid",
        "cancelled": f"is cancelled; {shapes.dollars(booking.refund)} come back",
        "released": "was given up before it was paid; nothing was charged",
        "expired": "was not paid in time; nothing was charged",
    }[booking.status]
    text = text or "\n".join([f"Booking {booking.reference} ({title}, {total}) {said}.", *booking.details["lines"]])
    return shapes.told(text, shapes.booked(booking, payment_url))
