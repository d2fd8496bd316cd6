"""Stand-ins for types that msgspec does not decode by itself.

A `marker` is a class that msgspec takes for any custom type and hands to `decode_hook`, which calls the function the
marker carries. Markers serve for models of other libraries, and where msgspec has a type but no way to combine it:
unions of several models, enums of mixed values, limits on dates and decimals.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from splice.schema.problems import Problem, Refused, problems_of

Convert = Callable[[Any], Any]
"""Turns a JSON value into what the user's code wants, or raises `ValueError`."""


class _Marker(type):
    convert: Convert

    def __instancecheck__(cls, instance: object) -> bool:
        """Let msgspec accept whatever `convert` made."""
        return True


def marker(name: str, convert: Convert) -> Any:
    """Make a stand-in for a type. Only `decode_hook` knows what to do with it."""
    return _Marker(name, (), {"convert": staticmethod(convert)})


def decode_hook(kind: Any, value: Any) -> Any:
    """Decode what msgspec does not: the `dec_hook` of every decoder in this package."""
    return kind.convert(value)


def conversion(kind: Any) -> Convert:
    """Give the conversion from a JSON value to a type that may hold markers. It raises `Refused`."""

    def convert(value: Any) -> Any:
        try:
            return msgspec.convert(value, kind, dec_hook=decode_hook, str_keys=True)
        except msgspec.ValidationError as error:
            # msgspec puts the outer path before the text of any error but its own.
            raise Refused(*problems_of(error)) from None

    return convert


def first_of(kinds: Sequence[Any]) -> Convert:
    """Give the conversion to the first of several types that a value fits."""
    conversions = [conversion(kind) for kind in kinds]

    def choose(value: Any) -> Any:
        problems: list[Problem] = []
        for convert in conversions:
            try:
                return convert(value)
            except Refused as error:
                problems += error.problems
        raise Refused(_nearest(problems))

    return choose


def _nearest(problems: Sequence[Problem]) -> Problem:
    """Pick the problem of the type that fits best; when none fits at all, name all of them."""
    deepest = max(problems, key=lambda problem: len(problem.path))
    if deepest.path:
        return deepest
    texts = dict.fromkeys(problem.text.removeprefix("expected ") for problem in problems)
    return Problem((), "expected " + " or ".join(texts))
