"""URI templates: no text makes them raise or dawdle, and what another implementation expanded is found again."""

from itertools import cycle
from typing import Any
from urllib.parse import unquote

import uritemplate
from hypothesis import assume
from hypothesis import strategies as st

from fuzz.fuzzing import cpu_seconds, fuzz
from splice.protocol.uri import UriTemplate, is_uri

LITERAL = st.sampled_from(["a", "b", "ab", "/", "-", "x://", ".", "?k=v", "é", "%41", ":", "_"])
OPERATOR = st.sampled_from(["", "", "", "+", "#", ".", "/", ";", "?", "&"])
MODIFIER = st.sampled_from(["", "", "", "*", ":3"])


@st.composite
def templates(draw: st.DrawFn) -> str:
    """Write a template that is well formed; whether it can be matched is another question."""
    names = iter("klmnopqrstuvwxyz")
    text = ""
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            text += draw(LITERAL)
        else:
            variables = [next(names) + draw(MODIFIER) for _ in range(draw(st.integers(1, 3)))]
            operator: str = draw(OPERATOR)
            if operator in ("?", "&"):  # a query begins once
                operator = "&" if "?" in text else "?"
            text += "{" + operator + ",".join(variables) + "}"
            if operator == "#":  # there is one fragment, at the end
                break
    return text


ANY_URI = st.text(max_size=30) | st.text("ab/-.;?&=#%25FklmABC01,:x\ud800\0é", max_size=30)
ANY_TEMPLATE = templates() | st.text("{}+#./;?&*:,%klm12ab é\0", max_size=16) | st.text(max_size=10)


def made(text: str) -> UriTemplate | None:
    try:
        return UriTemplate(text)
    except ValueError:
        return None


@fuzz(text=ANY_TEMPLATE, uris=st.lists(ANY_URI, max_size=5))
def test_no_text_is_more_than_refused(text: str, uris: list[str]) -> None:
    is_uri(text)
    template = made(text)
    assume(template is not None)
    assert template is not None
    for uri in uris:
        found = template.match(uri)
        assert found is None or found.keys() <= set(template.variables)


VALUES = st.text("56789XYZüß \n", min_size=1, max_size=3)


@fuzz(text=templates(), values=st.lists(VALUES, min_size=1, max_size=6))
def test_what_is_expanded_is_found(text: str, values: list[str]) -> None:
    template = made(text)
    assume(template is not None)
    assert template is not None
    wanted = dict(zip(template.variables, cycle(values), strict=False))
    assert template.match(uritemplate.expand(text, dict[str, Any](wanted))) == wanted


COLLIDING = st.text("ab-._:;=&,/?#k ", min_size=1, max_size=5)


@fuzz(text=templates(), values=st.lists(COLLIDING, min_size=1, max_size=6))
def test_what_is_found_expands_to_the_same(text: str, values: list[str]) -> None:
    template = made(text)
    assume(template is not None)
    assert template is not None
    uri = uritemplate.expand(text, dict(zip(template.variables, cycle(values), strict=False)))
    found = template.match(uri)
    if found is not None:  # what need not be encoded may be, when it is expanded again
        assert unquote(uritemplate.expand(text, dict[str, Any](found))) == unquote(uri)


LONG, SECONDS = 20_000, 0.1


@fuzz(
    text=templates(),
    piece=st.text("ab/-.;?&=#%2Fkl,:xé", min_size=1, max_size=4),
    end=st.sampled_from(["", "!", "/", "?"]),
)
def test_matching_takes_time_for_the_length_of_the_uri_only(text: str, piece: str, end: str) -> None:
    template = made(text)
    assume(template is not None)
    assert template is not None
    uri = (piece * LONG)[:LONG] + end
    assert cpu_seconds(lambda: template.match(uri)) < SECONDS
    assert cpu_seconds(lambda: is_uri("x:" + uri)) < SECONDS
