"""Addresses with gaps: the variables of a URI template, and the address that values make.

https://www.rfc-editor.org/rfc/rfc6570
"""

import re
from collections.abc import Mapping
from urllib.parse import quote

_GAP = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")

_JOINTS = {"": ("", ","), "+": ("", ","), "#": ("#", ","), ".": (".", "."), "/": ("/", "/")}
_NAMED = {";": (";", ";"), "?": ("?", "&"), "&": ("&", "&")}
_RESERVED = ":/?#[]@!$&'()*+,;="


def _names(inside: str) -> list[str]:
    return [name.partition(":")[0].rstrip("*") for name in inside.split(",") if name]


def variables(template: str) -> list[str]:
    """List the variables of a template, each once, in their order."""
    return list(dict.fromkeys(name for found in _GAP.finditer(template) for name in _names(found[2])))


def expand(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template. A gap without a value stays empty."""

    def filled(found: re.Match[str]) -> str:
        sign, names = found[1], [name for name in _names(found[2]) if values.get(name)]
        kept = _RESERVED if sign in ("+", "#") else ""
        written = {name: quote(values[name], safe=kept) for name in names}
        first, joint = (_JOINTS | _NAMED)[sign]
        parts = [f"{name}={written[name]}" if sign in _NAMED else written[name] for name in names]
        return first + joint.join(parts) if parts else ""

    return _GAP.sub(filled, template)
