"""What the tools of the travel server return: types with their schemas, and the text that a model reads."""

from datetime import date, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from splice.types import CallToolResult, TextContent

from .bookings import Booking, Status
from .flights import AIRLINE, Leg, Option

Money = Annotated[str, Meta(pattern=r"^\d+\.\d{2}$", description="In US dollars", examples=["381.80"])]
T = TypeVar("T", bound=Struct)


class Layover(Struct):
    """A wait between two planes."""

    airport: str
    minutes: int


class FlightOption(Struct, rename="camel"):
    """One way to fly on a day."""

    id: Annotated[str, Meta(description="What `bookFlight` and `bookTrip` take", examples=["NYC-BCN-20270615-02"])]
    airline: str
    price: Annotated[Money, Meta(description="For one traveler, one way, in US dollars")]
    departs: datetime
    arrives: datetime
    minutes: Annotated[int, Meta(description="From the first take-off to the last landing")]
    stops: int
    layovers: list[Layover]
    flights: list[Leg]
    seats_left: int


class FlightOptions(Struct, rename="camel"):
    """What can be flown on a day."""

    origin: str
    destination: str
    date: date
    currency: Literal["USD"]
    total: Annotated[int, Meta(description="How many options fit; `options` may be fewer")]
    options: list[FlightOption]


class Recommendation(Struct):
    """A flight, and why."""

    option: FlightOption
    reason: str


class BestFlights(Struct, rename="camel"):
    """The best flights of a day."""

    origin: str
    destination: str
    date: date
    currency: Literal["USD"]
    considered: Annotated[int, Meta(description="How many options were compared")]
    preferences: str
    ranked_by: Annotated[
        Literal["model", "rules"], Meta(description="Whether the client's model chose, or fixed rules did")
    ]
    note: Annotated[str, Meta(description="How the choice came about")]
    best: list[Recommendation]


class Room(Struct, rename="camel"):
    """A type of room, for the nights asked about."""

    type: str
    night: Annotated[Money, Meta(description="One night on average, for all guests, in US dollars")]
    total: Annotated[Money, Meta(description="All nights, for all guests, in US dollars")]
    rooms_left: int


class HotelOption(Struct, rename="camel"):
    """A hotel with the rooms that are free."""

    id: Annotated[str, Meta(description="What `bookHotel` and `bookTrip` take", examples=["barcelona-1"])]
    name: str
    stars: int
    rating: float
    style: str
    area: str
    rooms: list[Room]


class HotelOptions(Struct, rename="camel"):
    """Where one can stay."""

    city: str
    arrival: date
    departure: date
    nights: int
    guests: int
    rooms_needed: Annotated[int, Meta(description="Two guests share a room")]
    currency: Literal["USD"]
    total: Annotated[int, Meta(description="How many hotels fit; `hotels` may be fewer")]
    hotels: list[HotelOption]


class Booked(Struct, rename="camel"):
    """A booking, or that there is none."""

    status: Literal[Status, "declined"]
    reference: Annotated[str | None, Meta(description="Null where nothing was booked")]
    title: str
    total: Money
    currency: Literal["USD"]
    begins: date
    details: Annotated[dict[str, Any], Meta(description="Flights, hotel, wishes and contact")]
    refund: Money
    payment_url: Annotated[str | None, Meta(description="Where the user still has to pay")] = None


class Written(Struct):
    """A file that was written."""

    uri: str
    root: str
    path: Annotated[str, Meta(description="Below the root")]
    size: Annotated[int, Meta(description="In bytes")]


def schema_of(kind: Any) -> dict[str, Any]:
    """Give the schema of a result: that of an object, with what it refers to beside it."""
    schema = msgspec.json.schema(kind)
    root, defs = schema["$ref"].rpartition("/")[2], schema["$defs"]
    rest = {name: each for name, each in defs.items() if name != root}
    return {**defs[root], "$defs": rest}


def told(text: str, value: Struct) -> CallToolResult:
    """Make a result of both: text for the model, data for programs."""
    return CallToolResult(content=[TextContent(text=text)], structured_content=msgspec.to_builtins(value))


def money(cents: int) -> str:
    """Write an amount: "381.80"."""
    return f"{cents // 100}.{cents % 100:02}"


def dollars(cents: int) -> str:
    """Write an amount for people: "$3,000.00"."""
    return f"${cents / 100:,.2f}"


def flight_option(option: Option, seats: int) -> FlightOption:
    """Describe a flight of which so many seats are left."""
    return FlightOption(
        id=option.id,
        airline=AIRLINE[option.airline].name,
        price=money(option.cents),
        departs=option.departs,
        arrives=option.arrives,
        minutes=option.minutes,
        stops=option.stops,
        layovers=[Layover(airport, minutes) for airport, minutes in option.layovers],
        flights=list(option.legs),
        seats_left=seats,
    )


def flight_line(option: Option, seats: int | None = None) -> str:
    """Write a flight as one line."""
    left = "" if seats is None else f", {seats} seat{'' if seats == 1 else 's'} left"
    days = (option.arrives.date() - option.departs.date()).days
    later = f" (+{days})" if days else ""
    airports = [leg.origin for leg in option.legs] + [option.legs[-1].destination]
    waits = ", ".join(f"{minutes // 60}h{minutes % 60:02} in {airport}" for airport, minutes in option.layovers)
    return (
        f"{option.id}: {AIRLINE[option.airline].name}, {'-'.join(airports)}, "
        f"{option.departs:%H:%M} to {option.arrives:%H:%M}{later}, {option.minutes // 60}h{option.minutes % 60:02}, "
        f"{waits or 'direct'}, {dollars(option.cents)}{left}"
    )


def booked(booking: Booking, payment_url: str | None = None) -> Booked:
    """Describe a booking."""
    return Booked(
        status=booking.status,
        reference=booking.reference,
        title=booking.details["title"],
        total=money(booking.cents),
        currency="USD",
        begins=booking.begins,
        details=booking.details,
        refund=money(booking.refund),
        payment_url=payment_url,
    )
