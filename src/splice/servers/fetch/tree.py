"""HTML as a tree, with the end tags that pages leave out.

`<li>one<li>two` are two items to a browser. The parser of the standard library nests them, and so would a list of ten
thousand be nested ten thousand deep.

https://html.spec.whatwg.org/multipage/syntax.html#optional-tags
"""

from typing import Any

from bs4 import BeautifulSoup

FAR = 40
"""How many open elements are looked at for one that a start tag ends."""

_BLOCKS = (
    *(
        "address",
        "article",
        "aside",
        "blockquote",
        "details",
        "div",
        "dl",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
    ),
    *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "menu", "nav", "ol", "p", "pre", "section"),
    *("table", "ul", "li", "dt", "dd"),
)
_CELLS = frozenset({"td", "th"})
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_ENDS = {
    "li": frozenset({"li"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(_CELLS, _CELLS),
    "tr": frozenset({"tr"}),
    **dict.fromkeys(_SECTIONS, _SECTIONS | {"tr", "caption"}),
}
"""What the start tag of an element ends, besides a paragraph."""
_P = frozenset({"p"})
_HOLDS = {
    **dict.fromkeys(("li",), frozenset({"ul", "ol", "menu"})),
    **dict.fromkeys(("dt", "dd"), frozenset({"dl"})),
    **dict.fromkeys(("tr", *_CELLS, *_SECTIONS), frozenset({"table"})),
}
"""What an element stands in: nothing beyond is ended by its start tag."""
_P_STANDS_IN = frozenset({"table", "td", "th", "caption", "li", "dd", "button", "object", "blockquote", "div"})


class Tree(BeautifulSoup):
    """A parsed page."""

    def __init__(self, html: str) -> None:
        super().__init__(html, "html.parser")

    def handle_starttag(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Begin an element, and end those that its start tag ends. The parser calls this."""
        if name in _BLOCKS:
            self._end(_P, _P_STANDS_IN)
        if name in _ENDS:
            self._end(_ENDS[name], _HOLDS[name])
        return super().handle_starttag(name, *arguments, **options)

    def _end(self, names: frozenset[str], within: frozenset[str]) -> None:
        """End the outermost open element of these names, unless it stands outside of what holds them."""
        found = None
        for tag in self.tagStack[: -FAR - 1 : -1]:
            if tag.name in within:
                break
            if tag.name in names:
                found = tag.name
        if found is not None:
            self.handle_endtag(found)
