"""Pictures of others as characters: two pixels in each, one above the other. Needs Pillow, so it is loaded when needed.

Nothing is decoded before its format and its size are known: a small file can hold a picture that fills all memory.
"""

import struct
import warnings
import zlib
from io import BytesIO

from PIL import Image
from textual.content import Content

MAX_BYTES = 16 * 1024 * 1024
"""How many bytes a picture may have."""

MAX_PIXELS = 25_000_000
"""How many pixels: a photograph of a good camera. They take 100 MB while they are made smaller."""

TOO_LARGE = f"it has more than {MAX_PIXELS:,} pixels"

MAX_SCANS = 100
"""How many scans a JPEG may have; cameras write ten. Each takes a few bytes, and as long as the whole picture."""

_SCAN = b"\xff\xda"

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
"""What is decoded; the decoders of all other formats are never tried."""

_RAMP = " .:-=+*#%@"
"""From dark to bright, where there are no half blocks."""

_BROKEN = (
    *(OSError, ValueError, SyntaxError, EOFError, OverflowError, MemoryError),
    *(struct.error, zlib.error, IndexError, KeyError, TypeError, AttributeError),
)
"""What decoders raise for bytes that are no picture."""

warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)  # what it warns of is refused below


class Undrawable(ValueError):
    """It cannot be drawn; the message says why, for the user."""


def draw(data: bytes, width: int, rows: int, *, paper: str, ascii: bool = False) -> Content:
    """Draw a picture in so many columns and rows at most, on a colour where it lets through. Raises `Undrawable`."""
    if len(data) > MAX_BYTES:
        raise Undrawable(f"it has {len(data):,} bytes, and up to {MAX_BYTES:,} are drawn")
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as found:
            _check(found, data)
            small = _fitted(found, max(1, width), max(1, 2 * rows), paper)
    except Undrawable:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Undrawable(TOO_LARGE) from error
    except _BROKEN as error:
        raise Undrawable(f"it is no picture that can be read: {type(error).__name__}") from error
    return _letters(small) if ascii else _blocks(small)


def _check(found: Image.Image, data: bytes) -> None:
    """Raise `Undrawable` for one that would take too much memory or time, before anything of it is decoded."""
    if found.width * found.height > MAX_PIXELS:
        raise Undrawable(TOO_LARGE)
    if found.format in ("JPEG", "MPO") and data.count(_SCAN) > MAX_SCANS:
        raise Undrawable(f"it has more than {MAX_SCANS} scans")


def _fitted(found: Image.Image, width: int, height: int, paper: str) -> Image.Image:
    """Make it smaller, if it does not fit; its sides keep their proportion, and the height is even."""
    found.draft("RGB", (2 * width, 2 * height))  # JPEG is decoded smaller at once
    small = found.convert("RGBA")
    small.thumbnail((width, height))
    wide, high = small.size
    sheet = Image.new("RGBA", (wide, high + high % 2), paper)
    sheet.alpha_composite(small)
    return sheet.convert("RGB")


def _blocks(small: Image.Image) -> Content:
    pixels = small.tobytes()
    lines: list[Content] = []
    for row in range(0, small.height, 2):
        above, below = (pixels[3 * small.width * at : 3 * small.width * (at + 1)] for at in (row, row + 1))
        cells = [(above[at : at + 3].hex(), below[at : at + 3].hex()) for at in range(0, len(above), 3)]
        lines.append(Content.assemble(*(("\u2580", f"#{high} on #{low}") for high, low in cells)))
    return Content("\n").join(lines)


def _letters(small: Image.Image) -> Content:
    """Write bright letters where it is bright: a character is as high as two pixels, so every other row counts."""
    grey = small.convert("L").reduce((1, 2)).tobytes()
    text = "".join(_RAMP[each * len(_RAMP) // 256] for each in grey)
    return Content("\n".join(text[at : at + small.width] for at in range(0, len(text), small.width)))
