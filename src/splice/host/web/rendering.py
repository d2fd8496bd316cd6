"""Markdown of a model or a server as HTML that cannot act: no markup of its own, no pictures from elsewhere.

A text is cut into whole blocks, each rendered once, so that a stream changes the last one only. What cannot be seen is
drawn, as everywhere. Everything goes through a cleaner in the end, which would be enough alone; so would the renderer.
"""

import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from splice.host.addresses import host_of
from splice.host.text import safe

MAX_MARKDOWN = 48 * 1024
"""How much of a text is read as Markdown; the rest is plain text."""

MAX_BLOCK = 16 * 1024
"""A block that is longer is plain text, unless it is code or a table: what nests may take long to parse."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_GOES_ON = re.compile(r"\s|[-*+>|]|\d{1,9}[.)]")
"""How a line begins that may belong to what stands before an empty line."""

_TAGS = set(re.findall(r"\w+", "p br hr h3 h4 h5 h6 strong em s code pre ul ol li blockquote a span div"))
_TABLE = {"table", "thead", "tbody", "tr", "th", "td"}
_CLASSES = {"span": {"esc", "chip", "t3", "s12"}, "pre": {"code"}, "th": {"r"}, "td": {"r"}, "div": {"wide-x"}}


def _plain(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Render text."""
    return drawn(tokens[idx].content)


def _code_inline(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Render code within a line."""
    return f"<code>{drawn(tokens[idx].content)}</code>"


def _code_block(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Render a block of code, indented or between fences."""
    return f'<pre class="code"><code>{drawn(tokens[idx].content)}</code></pre>'


def _image(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Say that there would be a picture, and from where: loading it would tell that host what was said."""
    host = host_of(str(tokens[idx].attrGet("src") or ""))
    where = f"picture from {drawn(host)} not loaded" if host else "picture not loaded"
    label = drawn(tokens[idx].content)
    return f'<span class="chip">{where}</span> {label}'


def _link_open(_: Any, tokens: Sequence[Token], idx: int, __: Any, env: MutableMapping[str, Any]) -> str:
    """Open a link to another host; an address of this page or of no host is no link."""
    url = str(tokens[idx].attrGet("href") or "")
    host = host_of(url) if url.startswith(("http://", "https://")) else ""
    env.setdefault("hosts", []).append(host)
    return f'<a href="{escape(url)}" title="{escape(host)}" target="_blank">' if host else ""


def _link_close(_: Any, __: Any, ___: int, ____: Any, env: MutableMapping[str, Any]) -> str:
    """Close a link, with its host after it where the text is another one."""
    host = env["hosts"].pop()
    return f'</a> <span class="t3 s12">({drawn(host)})</span>' if host else ""


def _heading_open(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Open a heading, below those of the page."""
    return f"<{_lower(tokens[idx].tag)}>"


def _heading_close(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Close a heading."""
    return f"</{_lower(tokens[idx].tag)}>"


def _table_open(*_: Any) -> str:
    """Open a table, in a frame of its own that scrolls."""
    return '<div class="wide-x"><table>'


def _table_close(*_: Any) -> str:
    """Close a table."""
    return "</table></div>"


def _td_open(_: Any, tokens: Sequence[Token], idx: int, *__: Any) -> str:
    """Open a cell; numbers stand to the right, by a class and not by a style."""
    tag, style = tokens[idx].tag, str(tokens[idx].attrGet("style") or "")
    return f'<{tag} class="r">' if "right" in style else f"<{tag}>"


_RULES: dict[str, Callable[..., Any]] = {
    "text": _plain,
    "code_inline": _code_inline,
    "code_block": _code_block,
    "fence": _code_block,
    "image": _image,
    "link_open": _link_open,
    "link_close": _link_close,
    "heading_open": _heading_open,
    "heading_close": _heading_close,
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _td_open,
    "td_open": _td_open,
}
"""How tokens are rendered: text with its unseen characters drawn, pictures as a note, links with their host."""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 12})
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser.enable(["table", "strikethrough"]).disable(["html_block", "html_inline", "reference"])


_PARSER = _parser()


def blocks(text: str) -> list[str]:
    """Render a text as clean HTML, block by block. What is beyond the bounds is left out: see `beyond`."""
    return [_rendered(block) for block in _cut(text[:MAX_MARKDOWN])]


def beyond(text: str) -> str:
    """Return what of a text `blocks` left out, for plain text."""
    return text[MAX_MARKDOWN:]


def drawn(text: str) -> str:
    """Escape text for HTML, and draw what cannot be seen by its code point."""
    if safe(text) == text:
        return escape(text)
    return "".join(escape(each) if safe(each) == each else f'<span class="esc">{_named(each)}</span>' for each in text)


def _lower(tag: str) -> str:
    return f"h{min(int(tag[1]) + 2, 6)}"


def _named(character: str) -> str:
    return "ESC" if character == "\x1b" else f"U+{ord(character):04X}"


def _cut(text: str) -> Iterator[str]:
    """Cut between blocks that do not depend on each other: before a new paragraph, outside of code."""
    block: list[str] = []
    fence, was_empty = "", False
    for line in text.splitlines(keepends=True):
        is_new = was_empty and not fence and not _GOES_ON.match(line) and line.strip()
        if is_new and block:
            yield "".join(block)
            block = []
        opened = _FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        was_empty = not line.strip()
        block.append(line)
    if block:
        yield "".join(block)


@lru_cache(maxsize=2_000)
def _rendered(block: str) -> str:
    opened = _FENCE.match(block)
    if len(block) > MAX_BLOCK and not opened:
        return f"<p>{drawn(block)}</p>"
    html = _PARSER.render(block)
    return nh3.clean(
        html,
        tags=_TAGS | _TABLE,
        attributes={"a": {"href", "title", "target"}, "ol": {"start"}},
        allowed_classes=_CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
