"""Dates and times as people write them, read relative to a day that is today."""

import re
from calendar import day_abbr, day_name, month_abbr, month_name
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Literal, NamedTuple

MAX_AHEAD = 36_500
"""How many days away a date may be that is told relative to today."""

MONTHS = {name.casefold(): number for names in (month_name, month_abbr) for number, name in enumerate(names) if name}
DAYS = {name.casefold(): number for names in (day_name, day_abbr) for number, name in enumerate(names)}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join(sorted(DAYS, key=len, reverse=True))
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?"

Kind = Literal["date", "time", "datetime"]


class When(NamedTuple):
    """A date or time in a text: where it stands, and its value in ISO 8601."""

    start: int
    end: int
    kind: Kind
    value: str


def find(text: str, today: date) -> list[When]:
    """Find all dates and times in a text, in their order. What cannot be a date, as 31 June, is passed over."""
    found: list[When] = []
    for pattern, kind, read in _FORMS:
        for match in pattern.finditer(text):
            if any(match.start() < each.end and each.start < match.end() for each in found):
                continue
            try:
                value = read(match, today)
            except (ValueError, OverflowError):
                continue
            if value:
                found.append(When(match.start(), match.end(), kind, value))
    return sorted(found)


def days(found: list[When]) -> list[str]:
    """Give the days among what was found, without the times of day."""
    return [each.value[:10] for each in found if each.kind != "time"]


def moments(found: list[When]) -> list[str]:
    """Give days with the times that stand beside them: two times after one day are both on it."""
    made: list[str] = []
    day, has_time = "", False
    for each in found:
        if each.kind != "time":
            made.append(each.value)
            day, has_time = each.value[:10], each.kind == "datetime"
        elif day and not has_time:
            made[-1], has_time = f"{day}T{each.value}", True
        elif day:
            made.append(f"{day}T{each.value}")
    return made


def _iso_moment(match: re.Match[str], _today: date) -> str:
    date.fromisoformat(match[1])
    return f"{match[1]}T{match[2]}"


def _iso(match: re.Match[str], _today: date) -> str:
    return str(date.fromisoformat(match[0]))


def _day_first(match: re.Match[str], today: date) -> str:
    return _named(int(match[1]), match[2], match[3], today)


def _month_first(match: re.Match[str], today: date) -> str:
    return _named(int(match[2]), match[1], match[3], today)


def _named(day: int, month: str, year: str | None, today: date) -> str:
    """Make a date; without a year it is the next one of that name."""
    number = MONTHS[month.casefold()]
    if year:
        return str(date(int(year), number, day))
    found = date(today.year, number, day)
    return str(found if found >= today else date(today.year + 1, number, day))


def _near(match: re.Match[str], today: date) -> str:
    words = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
    return str(today + timedelta(2 if match[1] else words[match[2].casefold()]))


def _weekday(match: re.Match[str], today: date) -> str:
    """Read "Friday" as the one in the next seven days, and "next Friday" as that of the week that begins on Monday."""
    number, which = DAYS[match[2].casefold()], (match[1] or "").strip().casefold()
    if which == "next":
        return str(today + timedelta(7 - today.weekday() + number))
    ahead = (number - today.weekday()) % 7
    return str(today + timedelta(ahead if ahead or which == "this" else 7))


def _ahead(match: re.Match[str], today: date) -> str:
    many = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}.get(match[1].casefold()) or int(match[1])
    length = many * {"d": 1, "w": 7, "m": 30}[match[2][0].casefold()]
    return str(today + timedelta(length)) if length <= MAX_AHEAD else ""


def _ago(match: re.Match[str], today: date) -> str:
    length = int(match[1]) * (7 if match[2][0] in "wW" else 1)
    return str(today - timedelta(length)) if length <= MAX_AHEAD else ""


def _next_week(_match: re.Match[str], today: date) -> str:
    return str(today + timedelta(7 - today.weekday()))


def _half_day(match: re.Match[str], _today: date) -> str:
    hour, minute = int(match[1]), match[2] or "00"
    is_late = match[3].casefold().startswith("p")
    return f"{hour % 12 + 12 * is_late:02}:{minute}" if 1 <= hour <= 12 and int(minute) < 60 else ""


def _clock(match: re.Match[str], _today: date) -> str:
    hour, minute = match[0].split(":")[:2]
    return f"{int(hour):02}:{minute}" if int(hour) < 24 and int(minute) < 60 else ""


def _word_of_time(match: re.Match[str], _today: date) -> str:
    return {"noon": "12:00", "midnight": "00:00"}[match[1].casefold()]


_Reader = Callable[[re.Match[str], date], str]


def _forms() -> Iterator[tuple[re.Pattern[str], Kind, _Reader]]:
    """Yield the forms, those first that others are a part of."""
    year, nth = r"(?:,?\s+(\d{4}))?\b", r"(\d{1,2})(?:st|nd|rd|th|\.)?"
    iso = r"\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)"
    table: list[tuple[str, Kind, _Reader]] = [
        (iso, "datetime", _iso_moment),
        (r"\b\d{4}-\d\d-\d\d\b", "date", _iso),
        (rf"\b{nth}\s+(?:of\s+)?({_MONTH})\b{year}", "date", _day_first),
        (rf"\b({_MONTH})\.?\s+(?:the\s+)?{nth}(?![\d:]){year}", "date", _month_first),
        (r"\b(?:(day after tomorrow)|(today|tonight|tomorrow|yesterday))\b", "date", _near),
        (rf"\b((?:next|this|on|coming)\s+)?({_DAY})\b", "date", _weekday),
        (r"\bin\s+(\d{1,5}|an?|one|two|three)\s+(days?|weeks?|months?)\b", "date", _ahead),
        (r"\b(\d{1,5})\s+(days?|weeks?)\s+ago\b", "date", _ago),
        (r"\bnext week\b", "date", _next_week),
        (r"\b(\d{1,2})(?::(\d\d))?\s*([ap]\.?m)\b\.?", "time", _half_day),
        (rf"\b{_CLOCK}\b", "time", _clock),
        (r"\b(noon|midnight)\b", "time", _word_of_time),
    ]
    for pattern, kind, read in table:
        yield re.compile(pattern, re.IGNORECASE), kind, read


_FORMS = tuple(_forms())
