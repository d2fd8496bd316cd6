"""Options of a numbered list, ranked by what their lines tell: price, length, changes, hours, names liked."""

import re
from typing import NamedTuple

MAX_OPTIONS = 500

_LINE = re.compile(r"(?m)^[ \t]*(\d{1,4})[.)][ \t]+(\S.{0,400})$")
_PRICE = re.compile(r"[$€£]\s?(\d[\d,]{0,9}(?:\.\d{1,2})?)")
_LENGTH = re.compile(r"\b(\d{1,3})\s?h\s?(\d\d)?\b")
_HOUR = re.compile(r"\b(\d\d):\d\d\b")
_LEFT = re.compile(r"\b(\d{1,4}) (?:seats?|rooms?|places?) left\b")
_CHANGE = re.compile(r"\d\s?h\s?\d\d in [A-Z]")
_WISHES = re.compile(r"(?im)^.{0,40}\b(?:preferences?|wishes|likes|matters)\b[^:\n]{0,20}:[ \t]*(.{1,500})$")
_MANY = re.compile(r"(?im)^(?:travell?ers|guests|people|passengers):[ \t]*(\d{1,3})")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_HOURS = {"morning": range(5, 12), "afternoon": range(12, 17), "evening": range(17, 24), "night": range(5)}


class Option(NamedTuple):
    """A line of the list, as far as the rules look at it."""

    number: int
    text: str
    price: float
    minutes: int
    changes: int
    hour: int
    left: int


class Ranked(NamedTuple):
    """An option, and why it has its place."""

    number: int
    reason: str


def rank(text: str) -> list[Ranked]:
    """Rank the options of a text, the best first; none if it lists none."""
    options = options_of(text)
    wishes, many = _WISHES.search(text), _MANY.search(text)
    needed = int(many[1]) if many else 0
    fits = [each for each in options if each.left < 0 or each.left >= needed]
    liked = wishes[1] if wishes else ""
    prices = [each.price for each in options if each.price] or [1.0]
    lengths = [each.minutes for each in options if each.minutes] or [1]

    def costs(option: Option) -> tuple[float, int]:
        names = [name for name in _NAME.findall(liked) if name in option.text]
        hours = next((span for word, span in _HOURS.items() if word in liked.casefold()), range(24))
        late = 0.3 if option.hour >= 0 and option.hour not in hours else 0.0
        score = option.price / min(prices) + 0.7 * option.minutes / min(lengths) + 0.25 * max(option.changes - 1, 0)
        return score + late - 0.1 * bool(names), option.number

    return [Ranked(each.number, _reason(each, options)) for each in sorted(fits, key=costs)]


def options_of(text: str) -> list[Option]:
    """Read the lines of a numbered list."""
    return [_option(int(match[1]), match[2]) for match in list(_LINE.finditer(text))[:MAX_OPTIONS]]


def _option(number: int, line: str) -> Option:
    price, length, hour, left = (pattern.search(line) for pattern in (_PRICE, _LENGTH, _HOUR, _LEFT))
    return Option(
        number,
        line,
        float(price[1].replace(",", "")) if price else 0.0,
        int(length[1]) * 60 + int(length[2] or 0) if length else 0,
        len(_CHANGE.findall(line)),
        int(hour[1]) if hour else -1,
        int(left[1]) if left else -1,
    )


def _reason(option: Option, options: list[Option]) -> str:
    said: list[str] = []
    if option.price:
        cheaper = sum(0 < each.price < option.price for each in options)
        said.append(f"costs ${option.price:,.2f}, {cheaper} are cheaper")
    if option.minutes:
        faster = sum(0 < each.minutes < option.minutes for each in options)
        said.append(f"takes {option.minutes // 60}h{option.minutes % 60:02}, {faster} are faster")
    if option.hour >= 0:
        said.append(f"begins at {option.hour} h")
    why = "; ".join(said) or option.text[:200]
    return f"{why[:1].upper()}{why[1:]}. Ranked by rules, no AI."
