"""The calendar and email server of the travel example.

    splice run examples/travel/office.py

Settings come from the environment:

    SPLICE_TRAVEL_DATA           where calendar.db lies (the user's cache directory)
    SPLICE_TRAVEL_TIME_ZONE      the zone of the calendar (UTC)
    SPLICE_TRAVEL_SMTP           HOST:PORT of the mail server (127.0.0.1:8025, where sink.py listens)
    SPLICE_TRAVEL_SMTP_SECURITY  none, starttls or tls (none)
    SPLICE_TRAVEL_SMTP_USER, SPLICE_TRAVEL_SMTP_PASSWORD, SPLICE_TRAVEL_SMTP_FROM

No tool asks the user: to put a call to them before it is made is the host's affair.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta

from splice import Context, ResourceNotFound, Server, ToolError
from splice.types import ToolAnnotations

from .data import home
from .events import Absence, Calendar, Event, Kept, Span, month_of, months_between, read_span, read_title
from .mail import MailError, MailServer, Security, recipients, written

MAX_FREE_DAYS = 731
"""How many days are looked through for free ones."""

LISTED_MONTHS = 12
"""How many months are listed, from the present one on; all others can be read too."""

PAST_YEARS = 5
"""How far back months are completed."""

READING = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDING = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REMOVING = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
SENDING = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=True)
"""A mail cannot be taken back, and a second one is a second one: a host does well to ask its user."""

Title = Annotated[str, Meta(min_length=1, max_length=200, description="What it is, in one line")]
Day = Annotated[str, Meta(max_length=40, description="A day such as 2027-06-15, or a time such as 2027-06-15T09:30")]
Addresses = Annotated[str, Meta(max_length=6000, description="Mail addresses, with commas between several")]
Subject = Annotated[str, Meta(description="One line")]
EVENTS, MONTH = "calendar://events/{year}", "calendar://my-calendar/{month}"
OUT_OF_OFFICE = "calendar://out-of-office"
JSON = "application/json"

INSTRUCTIONS = (
    "The user's calendar and mailbox. Look at calendar://my-calendar/{month} or listFreeDates before you plan, enter a "
    "journey with createCalendarEvent, and tell others with sendEmail, which nobody can take back."
)


@dataclass
class Office:
    """What the tools work with."""

    calendar: Calendar
    mail: MailServer
    now: Callable[[], datetime]


@dataclass
class Entered:
    """An event that stands in the calendar, whether this call brought it there, and what takes place meanwhile."""

    event: Event
    isNew: bool
    overlaps: list[Event]


@dataclass
class FreeDates:
    """Days on which nothing is planned, both included."""

    startDate: date
    endDate: date
    days: int


@dataclass
class Sent:
    """Who a mail was sent to, and who the mail server refused, with its words."""

    messageId: str
    sentTo: list[str]
    refused: dict[str, str]


def utc() -> datetime:
    """Tell what time it is."""
    return datetime.now(UTC)


def make(
    folder: Path | str, *, zone: str = "UTC", mail: MailServer | None = None, now: Callable[[], datetime] = utc
) -> Server:
    """Make the server; the calendar lies in `folder`, which is made when the server starts. Raises `ValueError`."""
    try:
        there = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"there is no time zone {zone!r}") from error

    @asynccontextmanager
    async def opened(_server: Server) -> AsyncIterator[Office]:
        with closing(Calendar(Path(folder), there)) as calendar:
            calendar.seed(usual_events(now().astimezone(there).date(), there))
            yield Office(calendar, mail or MailServer(), now)

    server = Server("office", version="1.0.0", title="Calendar and email", instructions=INSTRUCTIONS, lifespan=opened)
    add_calendar(server)
    add_mail(server)
    add_resources(server, now().astimezone(there).date())
    return server


def add_calendar(server: Server) -> None:
    """Add the tools for events."""

    @server.tool(title="Create a calendar event", annotations=ADDING)
    def createCalendarEvent(title: Title, startDate: Day, endDate: Day, ctx: Context[Office]) -> Entered:
        """Enter an event into the user's calendar. Days are whole days, the last one included.

        The same event again changes nothing. Tells which other events take place at the same time.
        """
        calendar = ctx.lifespan.calendar
        try:
            event, is_new = calendar.add(read_title(title), read_span(startDate, endDate, calendar.zone))
        except ValueError as error:
            raise ToolError(f"{error}.") from None
        if is_new:
            tell(ctx, calendar, event)
        others = [calendar.shown(each) for each in calendar.overlapping(event)]
        return Entered(calendar.shown(event), is_new, others)

    @server.tool(title="Cancel a calendar event", annotations=REMOVING)
    def cancelCalendarEvent(id: int, ctx: Context[Office]) -> str:
        """Take an event out of the user's calendar, by the id it has there."""
        calendar = ctx.lifespan.calendar
        event = calendar.remove(id) if abs(id) < 2**63 else None
        if event is None:
            return f"There is no event {id} in the calendar."
        tell(ctx, calendar, event)
        return f"The event {event.title!r} is cancelled."

    @server.tool(title="List free dates", annotations=READING)
    def listFreeDates(
        startDate: date,
        endDate: date,
        ctx: Context[Office],
        minDays: Annotated[int, Meta(ge=1, le=366, description="How many days in a row are needed")] = 1,
    ) -> list[FreeDates]:
        """List the days in the calendar, from startDate to endDate, on which nothing is planned, as runs of days."""
        if not 0 <= (endDate - startDate).days < MAX_FREE_DAYS:
            raise ToolError(f"endDate is not before startDate, and at most {MAX_FREE_DAYS} days are looked through.")
        runs = ((a, b, (b - a).days + 1) for a, b in ctx.lifespan.calendar.free(startDate, endDate))
        return [FreeDates(*run) for run in runs if run[2] >= minDays]


def add_mail(server: Server) -> None:
    """Add the tools that send."""

    @server.tool(title="Send an email", annotations=SENDING)
    def sendEmail(to: Addresses, subject: Subject, body: str, ctx: Context[Office]) -> Sent:
        """Send a mail in the user's name, as plain text. It cannot be taken back."""
        return send(ctx.lifespan, to, subject, body)

    @server.tool(title="Set an out-of-office notice", annotations=SENDING)
    def setOutOfOffice(
        startDate: date,
        endDate: date,
        message: Annotated[str, Meta(min_length=1, max_length=2000)],
        ctx: Context[Office],
        notify: Annotated[str, Meta(max_length=6000, description="Colleagues to tell now, with commas between")] = "",
    ) -> Absence:
        """Say that the user is away, in place of what was said before, and mail it to colleagues if there are any."""
        if not 0 <= (endDate - startDate).days < MAX_FREE_DAYS:
            raise ToolError(f"endDate is not before startDate, and at most {MAX_FREE_DAYS} days later.")
        if notify.strip():
            send(ctx.lifespan, notify, f"Out of office from {startDate} to {endDate}", message, automatic=True)
        ctx.lifespan.calendar.absence = absence = Absence(startDate, endDate, message)
        ctx.wait(ctx.notify_resource_updated(OUT_OF_OFFICE))
        return absence


def add_resources(server: Server, today: date) -> None:
    """Add the calendar as resources: any year and month by a template, the coming ones in the list as well."""

    def year_of(year: str, ctx: Context[Office]) -> list[Event]:
        """List the events of a year."""
        if not (year.isascii() and year.isdigit() and len(year) == 4 and year > "0000"):
            raise ResourceNotFound("A year has four digits, as in calendar://events/2024.")
        return events_of(ctx, (date(int(year), 1, 1), date(int(year), 12, 31)))

    def month(month: str, ctx: Context[Office]) -> list[Event]:
        """List the events of a month, which is written as in June-2024."""
        days = month_of(month)
        if days is None:
            raise ResourceNotFound("A month is written as in calendar://my-calendar/June-2024.")
        return events_of(ctx, days)

    def absence(ctx: Context[Office]) -> Absence | None:
        """Tell when the user is out of office, and what colleagues are told; null if never."""
        return ctx.lifespan.calendar.absence

    years, months = (
        [str(today.year), str(today.year + 1)],
        months_between(today, today + timedelta(days=31 * LISTED_MONTHS))[:LISTED_MONTHS],
    )
    past = months_between(today.replace(year=today.year - PAST_YEARS, day=1), today)[:-1]
    server.add_resource(year_of, EVENTS, name="events-of-a-year", title="Events of a year", mime_type=JSON)
    server.add_resource(month, MONTH, name="my-calendar", title="My calendar", mime_type=JSON)
    server.add_resource(absence, OUT_OF_OFFICE, name="out-of-office", title="Out of office", mime_type=JSON)
    for each in years:
        add_one(server, EVENTS.format(year=each), f"Events of {each}", year_of, each)
    for each in months:
        add_one(server, MONTH.format(month=each), f"My calendar, {each.replace('-', ' ')}", month, each)
    server.completion(EVENTS, "year")(lambda typed: [each for each in years if each.startswith(typed)])
    server.completion(MONTH, "month")(
        lambda typed: [each for each in (*months, *past[::-1]) if each.casefold().startswith(typed.casefold())]
    )


def add_one(server: Server, uri: str, title: str, read: Callable[[str, Context[Office]], list[Event]], of: str) -> None:
    """List one year or month under a URI of its own."""

    def listed(ctx: Context[Office]) -> list[Event]:
        return read(of, ctx)

    server.add_resource(listed, uri, name=uri.partition("://")[2], title=title, description="", mime_type=JSON)


def events_of(ctx: Context[Office], days: tuple[date, date]) -> list[Event]:
    """Give the events that touch these days."""
    calendar = ctx.lifespan.calendar
    return [calendar.shown(each) for each in calendar.between(*days)]


def tell(ctx: Context[Office], calendar: Calendar, event: Kept) -> None:
    """Tell whoever subscribed to a year or month that an event of it came or went."""
    first, last = event.span.days(calendar.zone)
    uris = [EVENTS.format(year=year) for year in range(first.year, last.year + 1)]
    for uri in (*uris, *(MONTH.format(month=month) for month in months_between(first, last))):
        ctx.wait(ctx.notify_resource_updated(uri))


def send(office: Office, to: str, subject: str, body: str, *, automatic: bool = False) -> Sent:
    """Send a mail. Raises `ToolError`."""
    try:
        addresses = recipients(to)
        message = written(office.mail, addresses, subject, body, office.now())
        if automatic:
            message["Auto-Submitted"] = "auto-generated"  # so that other machines do not answer
        refused = office.mail.send(message, addresses)
    except ValueError as error:
        raise ToolError(f"{error}. Nothing was sent.") from None
    except MailError as error:
        raise ToolError(str(error)) from None
    return Sent(message["Message-ID"], [each for each in addresses if each not in refused], refused)


def usual_events(today: date, zone: ZoneInfo) -> Iterable[tuple[str, Span]]:
    """Make the events of a calendar that is new: what somebody with an office has to do in the coming weeks."""

    def at(days: int, hour: int, hours: int) -> Span:
        begins = datetime.combine(today + timedelta(days=days), time(hour), zone).astimezone(UTC)
        return Span(begins, begins + timedelta(hours=hours))

    monday = 7 - today.weekday()
    yield "Budget review", at(monday + 1, 10, 2)
    yield "Dentist", at(monday + 3, 16, 1)
    yield "Team offsite", Span(today + timedelta(days=monday + 14), today + timedelta(days=monday + 16))
    yield "Dinner with Maria", at(monday + 19, 19, 3)
    yield "Product launch", Span(today + timedelta(days=monday + 30), today + timedelta(days=monday + 31))
    yield "Quarterly planning", Span(today + timedelta(days=monday + 56), today + timedelta(days=monday + 58))


def by_environment(settings: Mapping[str, str]) -> Server:
    """Make the server by settings from the environment. Raises `ValueError`."""
    usual = MailServer()
    host, colon, port = settings.get("SPLICE_TRAVEL_SMTP", usual.name).rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("SPLICE_TRAVEL_SMTP is HOST:PORT, as in mail.example.com:587")
    mail = MailServer(
        host=host.strip("[]"),
        port=int(port),
        sender=settings.get("SPLICE_TRAVEL_SMTP_FROM", usual.sender),
        user=settings.get("SPLICE_TRAVEL_SMTP_USER", ""),
        password=settings.get("SPLICE_TRAVEL_SMTP_PASSWORD", ""),
        security=cast("Security", settings.get("SPLICE_TRAVEL_SMTP_SECURITY", usual.security)),
    )
    zone = settings.get("SPLICE_TRAVEL_TIME_ZONE", "UTC")
    return make(settings.get("SPLICE_TRAVEL_DATA") or home(), zone=zone, mail=mail)


server = by_environment(os.environ)
"""What `splice run` runs."""

if __name__ == "__main__":
    server.run()
