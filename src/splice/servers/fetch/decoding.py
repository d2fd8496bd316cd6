"""From the bytes of a page to its text.

The charset is that of a byte order mark, else of the Content-Type header, else of the page's own `meta` tag, else
UTF-8; bytes that are not UTF-8 are windows-1252, as for browsers. What does not fit becomes a replacement character.
Characters that people do not see, but a model reads, are left out: controls, and the tag characters of Unicode.

https://encoding.spec.whatwg.org/#names-and-labels
"""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:.-]{1,39}")
_IN_HEADER = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)
_IN_PAGE = re.compile(rb"""<meta\s[^>]{0,300}?charset\s*=\s*["']?([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
_FOR_TEXT = re.compile(
    r"utf-(8|8-sig|16|16-le|16-be|32|32-le|32-be)|ascii|iso8859-\d+|cp\d+|koi8-\w+|mac-\w+|gbk|gb2312|gb18030|big5(hkscs)?"
    r"|euc_\w+|shift_jis\w*|iso2022_jp\w*|tis-620|ptcp154|johab|hz"
)
"""Names of Python's codecs for text that is served. There are others, for other ends, some of them slow."""
_LATIN = {"ascii": "cp1252", "iso8859-1": "cp1252", "utf-16": "utf-16-le", "gb2312": "gb18030", "gbk": "gb18030"}
"""What browsers read instead."""
_META_BYTES = 4096
_UNSEEN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u2028\u2029\ufeff\U000e0000-\U000e007f]")


def decoded(body: bytes, content_type: str) -> str:
    """Read the text of a page."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return seen(body[len(mark) :].decode(name, "replace"))
    named = _IN_HEADER.search(content_type)
    found = _IN_PAGE.search(body[:_META_BYTES]) if named is None else None
    label = named[1] if named is not None else found[1].decode() if found is not None else ""
    codec = _codec(label)
    if found is not None and codec is not None and codec.startswith(("utf-16", "utf-32")):
        codec = "utf-8"  # what says so in ASCII is not: browsers do the same
    if codec is None:
        try:
            return seen(body.decode())
        except UnicodeDecodeError as error:
            is_cut = error.end >= len(body) - 3 and error.reason == "unexpected end of data"
            codec = "utf-8" if is_cut else "cp1252"
    return seen(body.decode(codec, "replace"))


def _codec(label: str) -> str | None:
    """Find the codec of a charset by its label; None for one that is unknown."""
    if not _LABEL.fullmatch(label):
        return None
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    return _LATIN.get(name, name) if _FOR_TEXT.fullmatch(name) else None


def seen(text: str) -> str:
    """Leave out what people do not see."""
    return _UNSEEN.sub("", text)
