"""URI templates take apart, in linear time, what another implementation of RFC 6570 expanded."""

import time
from typing import Any

import pytest
import uritemplate
from hypothesis import given
from hypothesis import strategies as st

from splice.protocol.uri import UriTemplate, is_uri, is_web
from support.tables import rows


def test_variables_are_named_in_order_and_once() -> None:
    assert UriTemplate("{b}/{a,b}{?c}").variables == ("b", "a", "c")


@rows(
    ("text", "message"),
    [
        ("a/{x", "not a URI template: 'a/{x', at 2: the expression is not closed"),
        ("a/x}", "not a URI template: 'a/x}', at 3: '}' must not stand outside of an expression"),
        ("{}", "not a URI template: '{}', at 0: '' is not a variable"),
        ("{?}", "not a URI template: '{?}', at 0: '' is not a variable"),
        ("{x,}", "not a URI template: '{x,}', at 0: '' is not a variable"),
        ("{x y}", "not a URI template: '{x y}', at 0: 'x y' is not a variable"),
        ("{=x}", "not a URI template: '{=x}', at 0: '=x' is not a variable"),
        ("{x:3}", "not a URI template: '{x:3}', at 0: 'x:3' is not a variable"),
        ("{;x}", "not a URI template: '{;x}', at 0: ';x' is not a variable"),
        ("{#x}", "not a URI template: '{#x}', at 0: '#x' is not a variable"),
        ("{{x}}", "not a URI template: '{{x}}', at 0: '{x' is not a variable"),
        ("{é}", "not a URI template: '{é}', at 0: 'é' is not a variable"),
    ],
)
def test_text_that_is_not_a_template(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        UriTemplate(text)
    assert str(caught.value) == message


MATCHES: list[tuple[str, str, dict[str, str] | None]] = [
    ("data://all", "data://all", {}),
    ("data://all", "data://al", None),
    ("data://all", "data://alle", None),
    ("x://{id}", "x://5", {"id": "5"}),
    ("x://{id}", "x://", None),
    ("x://{id}", "y://5", None),
    ("x://{id}", "x://a/b", None),
    ("x://{id}", "x://a?b", None),
    ("x://{id}", "x://a#b", None),
    ("x://{id}", "x://a%2Fb", None),
    ("x://{id}", "x://..%2f..%2fetc", None),
    ("x://{id}", "x://a%5Cb", None),
    ("x://{id}", "x://..", None),
    ("x://{id}", "x://%2e", None),
    ("x://{id}", "x://...", {"id": "..."}),
    ("x{/id}", "x/%2E%2e", None),
    ("x{.id}", "x.a%2fb", None),
    ("x://{+id}", "x://..%2f..%2fetc", {"id": "../../etc"}),
    ("x{?id}", "x?id=../a", {"id": "../a"}),
    ("x://{id}", "x://a%20b%C3%BC", {"id": "a bü"}),
    ("x://{id}", "x://ü", {"id": "ü"}),
    ("x://{id}", "x://%zz", None),
    ("x://{id}", "x://%", None),
    ("x://{id}", "x://%ff", None),
    ("x://{id}", "x://%00", None),
    ("x://{id}", "x://\ud800", None),
    ("é://{id}", "é://1", {"id": "1"}),
    ("x://{id}", "x://a\nb", {"id": "a\nb"}),
    ("x://{id}/end", "x://1/end", {"id": "1"}),
    ("x://{id}/end", "x://1/ende", None),
    ("x://{a}-end", "x://b-end-end", {"a": "b-end"}),
    ("x://{a}-{b}", "x://1-2-3", {"a": "1", "b": "2-3"}),
    ("x://{a}-{b}", "x://1", None),
    ("x://{a}.{b}", "x://a.tar.gz", {"a": "a", "b": "tar.gz"}),
    ("x://{a}/{a}", "x://1/1", {"a": "1"}),
    ("x://{a}/{a}", "x://1/2", None),
    ("{x,y}", "1,2", {"x": "1", "y": "2"}),
    ("{x,y}", "1", {"x": "1"}),
    ("{x,y}", "1,2,3", None),
    # reserved
    ("f:///{+path}", "f:///a/b?c#d", {"path": "a/b?c#d"}),
    ("f:///{+path}", "f:///", None),
    ("f:///{+path}", "f://", None),
    ("{+a}ab", "ab", None),
    ("a{+x}a", "a", None),
    ("{+a}/m/{+b}", "1/m/2/m/3", {"a": "1", "b": "2/m/3"}),
    ("{+x,y}", "a/b,c,d", {"x": "a/b", "y": "c,d"}),
    ("{+x,y}", "a/b", None),
    ("{+p}.md", "a/b.md", {"p": "a/b"}),
    ("{+a}x{b}x{+c}", "1x2x3x4", {"a": "1", "b": "2", "c": "3x4"}),
    ("{a}/{+b}/c{?q}", "1/2/3/c?q=4", {"a": "1", "b": "2/3", "q": "4"}),
    # labels
    ("{n}{.e}", "a.b", {"n": "a", "e": "b"}),
    ("{n}{.e}", "a", {"n": "a"}),
    ("x{.a,b}", "x.1.2", {"a": "1", "b": "2"}),
    ("x{.a,b}", "x.1.2.3", None),
    ("x{.a*}", "x.1.2", {"a": "1.2"}),
    # segments
    ("x{/a}", "x", {}),
    ("x{/a}", "x/", {"a": ""}),
    ("x{/a}", "x/1", {"a": "1"}),
    ("x{/a}", "x/1/2", None),
    ("x{/a,b}/end", "x/1/end", {"a": "1"}),
    ("x{/a,b}/end", "x/1/2/end", {"a": "1", "b": "2"}),
    ("x{/a}/end", "x/end", {}),
    ("{o}/{r}/c{/p*}", "a/b/c/d/e", {"o": "a", "r": "b", "p": "d/e"}),
    ("{o}/{r}/c{/p*}", "a/b/c", {"o": "a", "r": "b"}),
    ("{o}/{r}/c{/p*}", "a/b/cd", None),
    ("x{/p*}", "x/a%2Fb/c", None),
    ("x{/p*}", "x/a?b", None),
    # query
    ("r://x{?q,l}", "r://x?l=1&q=a%20b", {"l": "1", "q": "a b"}),
    ("r://x{?q,l}", "r://x?q=", {"q": ""}),
    ("r://x{?q,l}", "r://x?q", {"q": ""}),
    ("r://x{?q,l}", "r://x?q=a=b", {"q": "a=b"}),
    ("r://x{?q,l}", "r://x", {}),
    ("r://x{?q,l}", "r://x?", {}),
    ("r://x{?q,l}", "r://x?z=1", None),
    ("r://x{?q,l}", "r://x?q=1&q=2", None),
    ("r://{+p}{?q}", "r://a/b?q=1", {"p": "a/b", "q": "1"}),
    ("r://x?f=1{&q}", "r://x?f=1&q=2", {"q": "2"}),
    ("r://x?f=1{&q}", "r://x?f=1", {}),
    ("r://x?f=1&g=2{&q}", "r://x?f=1&g=2&q=3", {"q": "3"}),
    ("r://x?f=1{&q}", "r://x?q=2&f=1", {"q": "2"}),
    ("r://x?f=1{&q}", "r://x?f=2&q=1", None),
    ("r://x?f=1{&q}", "r://x?q=1", None),
    ("r://x{?a}{&b}", "r://x?b=1&a=2", {"a": "2", "b": "1"}),
    ("r://x?n={n}", "r://x?n=5", {"n": "5"}),
]


@rows(("template", "uri", "expected"), MATCHES)
@pytest.mark.requirement(298)
def test_matching(template: str, uri: str, expected: dict[str, str] | None) -> None:
    assert UriTemplate(template).match(uri) == expected


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{a}{b}", "nothing stands between a and b"),
        ("{a}{+b}", "nothing stands between a and b"),
        ("{+a}{b}", "nothing stands between a and b"),
        ("x?a=1{&a}", "a is a text and a variable of its query"),
        ("x{?a}/y", "{?...} must stand at the end"),
        ("{+a}/{b}", "behind {+...} and {/...*}, no {...} can follow"),
        ("x{/a*}{.b}", "behind {+...} and {/...*}, no {...} can follow"),
        ("x{?a*}", "{?...*} stands for more than text"),
        ("x{&a*}", "{&...*} stands for more than text"),
        ("x://{path*}", "{...*} stands for more than text; for a value with slashes write {+...}"),
    ],
)
def test_some_templates_cannot_be_matched(template: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        UriTemplate(template)
    assert str(caught.value) == f"no URI can be matched to {template!r}: {reason}"


TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1)


@given(a=TEXT, b=TEXT, q=TEXT)
@pytest.mark.parametrize("template", ["x://{a}/{b}{?q}", "{a}/-/{b}{?q}", "x{/a,b}{?q}", "{a,b}{?q}", "{a}?b={b}{&q}"])
def test_what_was_expanded_is_found_again(template: str, a: str, b: str, q: str) -> None:
    made = UriTemplate(template)
    values = {"a": a, "b": b, "q": q}
    found = made.match(uritemplate.expand(template, dict[str, Any](values)))
    safe = not any(each in (".", "..") or {"/", "\\"} & set(each) for each in (a, b))
    assert found == (values if safe else None)


URIS = [
    *("a:", "x://y", "file:///a/b", "urn:isbn:0451450523", "http://[::1]:80/a?b=c/d#e?f", "mailto:a@b.c", "a:b%20c"),
    *("http://u:p@h:1/", "x-1+.://y?", "http://u@[::1]", "data:text/plain,hi"),
]
NOT_URIS = [
    *("", "1x://y", "http://[", "http://[::1", "x", "/x", "//x", "a b:", "x://a b", "x://a%2", "x://ü", "x:\n", ":x"),
    *("x://y]", "x://[y]", "x:[y]", "x://h/[a]", "x:#a#b", "x:<y>", "x://[::1]a", "not a uri at all"),
]


@pytest.mark.parametrize("text", URIS)
def test_uris(text: str) -> None:
    assert is_uri(text)


@rows("text", NOT_URIS)
def test_what_is_not_a_uri(text: str) -> None:
    assert not is_uri(text)


@pytest.mark.parametrize(
    "hostile", ["a:" + "a" * 1_000_000 + " ", "a://" + "@" * 1_000_000 + "[", "a://" + ":" * 1_000_000 + "["]
)
def test_telling_a_uri_takes_no_time(hostile: str) -> None:
    """Going back over it for each character would take longer than any test may."""
    assert not is_uri(hostile)


OPERATORS = [
    *("{x}", "{+x}", "{.x}", "{/x}", "{?x}", "{&x}"),
    *("{+x*}", "{.x*}", "{/x*}"),
    *("{x}-{y}-{z}", "{+x}/{y}/{+z}", "{x,y,z}", "{/x,y,z*}", "{?x,y}", "x{.a,b,c}z"),
    *("{+a}-{b}-{+c}.", "{a}{/x}{.e}", "{+a}{/x}{.e}{/v*}", "{a}a{b}a{c}a", "x?x={x}{&y}"),
]
HOSTILE = ["a", "/", "-", ".", ";", ";x", ";x=", "&", "&x=", "?x=", "%", "%2F", "=", ",", "#", "é", "\0", "ab-/", "/-"]


@pytest.mark.parametrize("template", OPERATORS)
def test_matching_is_linear(template: str) -> None:
    made = UriTemplate(template)
    for piece in HOSTILE:
        long = (piece * 50_000)[:50_000]
        for uri in (long, long + "!", "?" + long, long + "/"):
            assert any(seconds(made, uri) < 0.05 for _ in range(3)), (piece, uri[-1])


def seconds(template: UriTemplate, uri: str) -> float:
    started = time.thread_time()
    template.match(uri)
    return time.thread_time() - started


@rows("uri", ["a:\ud800", "a:x\udfff/y", "a:x?\ud800=1", "a:x?q=\ud800"])
@rows("template", ["a:{x}", "a:{+x}", "a:{x}{?q}", "a:{x}{/y}"])
def test_lone_surrogates_stand_for_no_value(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


def test_lone_surrogates_have_no_place_in_a_template() -> None:
    with pytest.raises(ValueError, match=r"at 2: '\\ud800' must not stand"):
        UriTemplate("a:\ud800{x}")


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("x{+k}{?l}", "x/a?evil=1&l=2"),
        ("x{+k}{?l}", "x/a?evil=1"),
        ("x?x={x}{&y}", "x?x=1&z=3"),
        ("aa{+k}{?l,m}", "aa??l=%3F&m=%3F"),
        ("x{?a}", "x?a=1&a=1"),
    ],
)
def test_a_variable_never_takes_what_the_query_does_not_know(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


@rows(
    ("text", "is_one"),
    [
        ("https://shop.example/connect?id=a_b-C", True),
        ("HTTP://KISS.example", True),
        ("https://shop.example:8443#done", True),
        ("https://user@shop.example/", False),
        ("https://user:secret@shop.example/", False),
        ("https://shop\\@evil.example/", False),
        ("https://\u017fhop.example/", False),
        ("https:///connect", False),
        ("https://[::1]:8443/", True),
        ("https://[::1", False),
        ("https://[::1]x/", False),
        ("https://shop.example:port/", False),
        ("https://shop.example:443:80/", False),
        ("ftp://shop.example/", False),
        ("shop.example", False),
    ],
)
def test_what_sends_a_user_to_a_page(text: str, is_one: bool) -> None:
    assert is_web(text) is is_one
