"""The travel server: flights, hotels, bookings, and what the traveller likes and remembers.

splice run examples/travel/travel.py              speaks over stdin and stdout
splice run examples/travel/travel.py --http       serves http://127.0.0.1:8000/mcp, and the page to pay

SPLICE_TRAVEL_DATA   the directory of its database; the user's cache directory without it
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path

from splice import Server

from . import booking, data, desk, guide, itinerary, searching
from .desk import Desk
from .payments import PATH, Payments

INSTRUCTIONS = """Plans and books journeys. Search before you book: `searchFlights` and `searchHotels` give the ids that
`bookTrip`, `bookFlight` and `bookHotel` take. Read `travel://preferences/{region}` and a past trip first, if you may.
Dates are YYYY-MM-DD, prices are in US dollars. Whatever is booked is confirmed and paid by the user, not by you."""


def make(
    *,
    database: Path | None = None,
    seed: str = data.SEED,
    today: Callable[[], date] = desk.local_today,
    patience: float = 45.0,
) -> Server:
    """Make the server. `database` is a file, which is made if it is not there.

    `patience` is for how many seconds a booking waits for its payment: less than the minute after which many clients
    give up.
    """

    @asynccontextmanager
    async def opened(_server: Server) -> AsyncIterator[Desk]:
        await asyncio.to_thread(data.build, path, seed)
        yield Desk(path, payments, patience, today)
        await asyncio.to_thread(payments.close)

    path = data.home() / "travel.db" if database is None else database
    server = Server("travel", version="1.0.0", title="Travel agency", instructions=INSTRUCTIONS, lifespan=opened)
    payments = Payments(path, lambda token: server.publish(("notifications/elicitation/complete", token)))
    server.route(PATH, methods=["GET", "POST"], public=True)(payments.answer)
    searching.add(server)
    booking.add(server)
    guide.add(server)
    itinerary.add(server)
    return server


server = make()

if __name__ == "__main__":
    server.run()
