"""Options, checked where they are given: which there are, what each one takes, and the words that say so.

A TypedDict lists the options of something; the annotation of each one has an `Option` beside its type.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct


class Option(Struct, frozen=True):
    """What one option takes."""

    kinds: Any
    """Its type, or types."""
    wanted: str
    """All that it takes, in words."""
    fits: Callable[[Any], object] | None = None
    """What must hold of a value of that type."""
    item: Any = None
    """The type of its items, where it is a list."""
    is_secret: bool = False
    """No message may show its value."""

    def takes(self, value: Any) -> bool:
        """Tell whether a value has the right type. True and False are no numbers here."""
        if isinstance(value, bool):
            return self.kinds is bool
        if not isinstance(value, self.kinds):
            return False
        return self.item is None or all(isinstance(each, self.item) for each in value)


def option_table(typed: type) -> dict[str, Option]:
    """Read from the annotations of a TypedDict what each option takes."""
    return {name: hint.__metadata__[0] for name, hint in typed.__annotations__.items()}


def checked(of: str, given: Mapping[str, Any], known: Mapping[str, Option]) -> dict[str, Any]:
    """Check the options of something, and leave out those that are None.

    Raises `TypeError` for one that does not exist or is of another type, `ValueError` for a value that cannot be meant.
    """
    if unknown := given.keys() - known.keys():
        raise TypeError(f"{of} has no option {', '.join(sorted(unknown))}; there are {', '.join(known) or 'none'}")
    options = {name: value for name, value in given.items() if value is not None}
    for name, value in options.items():
        option = known[name]
        is_of_kind = option.takes(value)
        if not is_of_kind or (option.fits is not None and not option.fits(value)):
            shown = "" if option.is_secret else f", not {value!r}"
            raise (ValueError if is_of_kind else TypeError)(f"{name}= of {of} takes {option.wanted}{shown}")
    return options
