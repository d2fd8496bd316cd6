"""HTML to Markdown: a program that reads a URL and a page on stdin, and writes what a reader of the page would see.

It is a program of its own because a page may be made to take for ever: the parser of the standard library needs minutes
for some pages of a hundred thousand characters, and neither it nor a thread can be stopped. A process can; and its
memory has a bound.

- The main part of the page is taken (`main`, or an `article`) if it holds a good part of the text; else all of it but
  navigation, asides and the footer.
- Scripts, styles, forms' controls, frames and what is hidden by attributes are left out.
- Links are absolute, and lead to the web or to nothing. An image is a link too: a host that shows what it is told would
  load an image by itself. For the same reason text never looks like an image, a link, code or HTML, and no end of code
  or of a link stands where the page wants it to.
"""

import contextlib
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, urljoin

from bs4 import Tag
from markdownify import MarkdownConverter

from splice.servers.fetch.decoding import seen
from splice.servers.fetch.tree import Tree

MAX_CHARACTERS = 4_000_000
"""How much of what comes of a page is written."""

MAX_DEPTH = 100
"""Elements that are nested deeper are taken as text: the converter calls itself for each level."""

MAIN_SHARE = 0.25
"""How much of the text of a page its main part must hold to be taken for it."""

MEMORY_BYTES = 2 * 1024**3
"""How much memory the program may have, where the system can be told."""

CPU_SECONDS = 30
"""How long the program may work, where the system can be told: whoever started it may be gone, and not end it."""

MAX_MAINS = 20
"""How many parts of a page are weighed to find the main one."""

_NOT_READ = frozenset(
    {
        *("script", "style", "noscript", "template", "head", "title", "iframe", "frame", "frameset", "object", "embed"),
        *("applet", "svg", "math", "canvas", "audio", "video", "map", "dialog"),
        *("button", "input", "select", "textarea", "datalist"),
    }
)
_AROUND = frozenset({"nav", "aside", "footer"})
_MAIN = frozenset({"main", "article"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(font-size|opacity)\s*:\s*0(?![.\d])", re.IGNORECASE)
_CODE = frozenset({"code", "kbd", "samp"})
_ONE_LINE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "dt", "caption", "table", "tr"})
"""What is written without the line ends of what is in it."""
_INLINE = frozenset({"a", "b", "strong", "i", "em", "del", "s", "sub", "sup", "q"})
_MARK, _EDGE = "\0", "\1"
"""Stand before a bracket of the text, and around code, until all is written."""
_TAG = re.compile(r"<(?=[A-Za-z/!?]|\Z)")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)")
_BEGINS_CODE = re.compile(r"`|~(?=[~\s]|\Z)|(?<![^\s~])~")
_BRACKET = re.compile(r"[\[\]]")
_LINK_END = re.compile(rf"{_MARK}\](?=[(:])")
_IN_URL = re.compile(r"""[\s\x00-\x20\x7f"'()<>\[\]\\`{|}]""")
_ORIGIN = re.compile(r"https?://\[[0-9A-Fa-f:.]+\]|https?://")
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def to_markdown(html: str, url: str) -> str:
    """Write a page as Markdown; empty when it has no text. Raises `ParserRejectedMarkup` for some that are broken."""
    soup = Tree(html.replace(_MARK, ""))
    for tag in [each for each in _tags(soup) if _is_left_out(each)]:
        if not tag.decomposed:
            tag.decompose()
    part = _main_part(soup)
    _level(part)
    _link(part, _base(html, url))
    _settle_code(part)
    text = str(_converter().convert_soup(part)).replace(f"!{_MARK}[", "\\![").replace(f"`{_EDGE}{_EDGE}`", "` `")
    text = _LINK_END.sub(r"\\]", text).replace(_MARK, "").replace(_EDGE, "")
    return _BLANK_LINES.sub("\n\n", text).strip()[:MAX_CHARACTERS]


def _converter() -> Any:
    """Make a converter. Its methods are replaced and not inherited: the library's types do not tell of them."""
    converter: Any = MarkdownConverter(heading_style="ATX", bullets="*")
    escape, link, struck, item = converter.escape, converter.convert_a, converter.convert_del, converter.convert_li

    def marked_text(text: str, parent_tags: set[str]) -> str:
        """Mark brackets outside of code: one behind an exclamation mark would make an image."""
        text = str(escape(_BACKSLASH.sub(r"\\\\", seen(text)), parent_tags))
        text = _BEGINS_CODE.sub(r"\\\g<0>", _TAG.sub(r"\\<", text))
        return _BRACKET.sub(rf"{_MARK}\g<0>", text)

    def marked_link(tag: Tag, text: str, parent_tags: set[str]) -> str:
        written = str(link(tag, text, parent_tags))
        return _MARK + written if written.startswith("[") else written

    def struck_once(tag: Tag, text: str, parent_tags: set[str]) -> str:
        """Write ~~ once: of more, a line would begin code."""
        return text if parent_tags & {"del", "s"} else str(struck(tag, text, parent_tags))

    def item_of_a_list(tag: Tag, text: str, parent_tags: set[str]) -> str:
        if tag.parent is None or tag.parent.name not in {"ul", "ol", "dl"}:
            return f"\n\n{text}\n\n"
        return ("" if _begins_line(tag) else "\n\n") + str(item(tag, text, parent_tags))

    converter.escape, converter.convert_a = marked_text, marked_link
    converter.convert_del = converter.convert_s = struck_once
    converter.convert_li = converter.convert_dd = item_of_a_list
    _write_code(converter)
    return converter


def _write_code(converter: Any) -> None:
    """Replace how code is written: its end is where it ends in the page."""
    span, block = converter.convert_code, converter.convert_pre

    def marked_span(tag: Tag, text: str, parent_tags: set[str]) -> str:
        if "|" in text and parent_tags & {"td", "th"}:  # it would end the cell, and with that the code
            return str(converter.escape(text, parent_tags)).replace("|", r"\|")
        written = str(span(tag, text, parent_tags))
        return f"{_EDGE}{written}{_EDGE}" if written else ""

    def closed_block(tag: Tag, text: str, parent_tags: set[str]) -> str:
        return str(block(tag, text.replace("```", "'''"), parent_tags))

    converter.convert_code = converter.convert_kbd = converter.convert_samp = marked_span
    converter.convert_pre = closed_block


def _begins_line(tag: Tag) -> bool:
    """Tell whether what stands before an item of a list ends its line."""
    before = tag.previous_sibling
    while before is not None and not isinstance(before, Tag) and not before.get_text().strip():
        before = before.previous_sibling
    return before is None or (isinstance(before, Tag) and before.name in {"li", "dt", "dd"})


def _is_left_out(tag: Tag) -> bool:
    if tag.name in _NOT_READ or tag.has_attr("hidden") or tag.get("aria-hidden") == "true":
        return True
    return bool(_HIDDEN.search(str(tag.get("style", ""))))


def _main_part(soup: Tree) -> Tag:
    whole = _weight(soup)
    found = [each for each in _tags(soup) if each.name in _MAIN or each.get("role") == "main"]
    best = max(found[:MAX_MAINS], key=_weight, default=None)
    if best is not None and _weight(best) >= whole * MAIN_SHARE:
        return best.wrap(soup.new_tag("div"))  # it is treated as all that is in it
    around = [each for each in _tags(soup) if each.name in _AROUND]
    for tag in around:
        tag.extract()
    if not _weight(soup):
        soup.extend(around)
    return soup


def _tags(part: Tag) -> Iterator[Tag]:
    return (each for each in part.descendants if isinstance(each, Tag))


def _weight(tag: Tag) -> int:
    return sum(len(text) for text in tag.stripped_strings)


def _level(part: Tag) -> None:
    """Make text of what is nested too deep."""
    for tag in [tag for tag, depth in _depths(part) if depth == MAX_DEPTH]:
        tag.replace_with(tag.get_text(" ", strip=True))


def _depths(part: Tag) -> Iterator[tuple[Tag, int]]:
    waiting = [(part, 0)]
    while waiting:
        tag, depth = waiting.pop()
        yield tag, depth
        if depth < MAX_DEPTH:
            waiting += [(child, depth + 1) for child in tag.children if isinstance(child, Tag)]


def _base(html: str, url: str) -> str:
    found = re.search(r"""<base\s[^>]{0,300}?href\s*=\s*["']?([^\s"'>]+)""", html[:10_000], re.IGNORECASE)
    return _absolute(url, found[1]) or url if found else url


def _link(part: Tag, base: str) -> None:
    """Make links absolute, and links of images."""
    for tag in [each for each in _tags(part) if each.name in ("a", "img")]:
        target = _absolute(base, str(tag.get("src" if tag.name == "img" else "href", "")))
        label = " ".join(str(tag.get("alt", "")).split())
        tag.attrs = {"href": target} if target else {}
        if tag.name == "img":
            tag.name = "a"
            tag.string = f"image: {label}" if label else "image" if target else ""
        elif not target:
            tag.unwrap()


def _settle_code(part: Tag) -> None:
    """Make code plain text, and blocks of code stand where blocks may: else its end would be elsewhere, or nowhere."""
    for tag in [each for each in _tags(part) if each.name in _CODE or each.name == "pre"]:
        around = [each for each in tag.parents if each.parent is not None]
        for line_end in tag.find_all("br"):
            line_end.replace_with("\n")
        text = seen(tag.get_text()).replace("\r", "\n")
        if tag.name != "pre" or any(each.name in _ONE_LINE for each in around):
            tag.name, text = "code", " ".join(text.split())
        for each in around if tag.name == "pre" else ():
            if each.name in _INLINE:
                each.unwrap()
        tag.string = text


def _absolute(base: str, target: str) -> str:
    """Resolve where a link leads; empty when that is not a page of the web."""
    try:
        url = urljoin(base, seen(target).strip())
    except ValueError:
        return ""
    origin = _ORIGIN.match(url)
    return origin[0] + _IN_URL.sub(_escaped, url[origin.end() :]) if origin else ""


def _escaped(found: re.Match[str]) -> str:
    return quote(found[0], safe="")


def main() -> None:
    """Read the URL, a line end, and the page; write Markdown."""
    if find_spec("resource") is not None:
        resource: Any = import_module("resource")
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    url, _, html = sys.stdin.buffer.read().decode().partition("\n")
    sys.stdout.buffer.write(to_markdown(html, url).encode())


if __name__ == "__main__":
    main()
