"""HTTP headers: reading them, media types, and any text as a value."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice import HTTPServer
from splice.rules.http.headers import EVENT_STREAM, JSON, Headers, accepts, decode_header, encode_header, is_json
from support.tables import rows


def test_headers_are_a_mapping() -> None:
    given = Headers([(b"accept", b"a"), (b"x", b"\xe9"), (b"accept", b"b")])
    assert dict(given) == {"accept": "a, b", "x": "é"}
    assert given["ACCEPT"] == "a, b"
    assert len(given) == 2
    assert "y" not in given
    assert given.get("世界") is None
    assert given.raw(b"x") == b"\xe9"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        ("us-west1", "us-west1"),
        ("a b", "a b"),
        ("", ""),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("=?base64?=", "=?base64?="),
        ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ("\0", "=?base64?AA==?="),
    ],
)
@pytest.mark.requirement(158, 159, 161)
def test_values_are_encoded_where_they_must_be(value: str, encoded: str) -> None:
    assert encode_header(value) == encoded
    assert decode_header(encoded) == value


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives_as_a_header(value: str) -> None:
    encoded = encode_header(value)
    assert encoded.isascii()
    assert encoded.isprintable()
    assert decode_header(encoded) == decode_header(f" \t{encoded}  ") == value


@pytest.mark.parametrize(
    "value", ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?=", "é", "a\x01b", "a\x7f", "=?base64?=?="]
)
@pytest.mark.requirement(167)
def test_bad_values_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"header|base64"):
        decode_header(value)


def test_a_tab_within_a_value_is_legal() -> None:
    assert decode_header("a\tb") == "a\tb"


@rows(
    ("value", "expected"),
    [
        (b"application/json", True),
        (b"Application/JSON; charset=UTF-8", True),
        (b'application/json;charset="utf-8"; x=y', True),
        (b"application/json; charset=utf-16", True),  # the body will not be UTF-8
        (b"application/jsonx", False),
        (b"text/plain", False),
        (b"text/plain; application/json", False),
        (b"application/x-www-form-urlencoded", False),
        (b"multipart/form-data; boundary=x", False),
        (b"application/json, application/json", False),
        (b"", False),
        (None, False),
    ],
)
def test_only_json_is_json(value: bytes | None, expected: bool) -> None:
    assert is_json(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, True),
        (b"application/json, text/event-stream", True),
        (b"text/event-stream;q=0.5,APPLICATION/json ; q=1", True),
        (b"*/*", True),
        (b"application/*, text/*", True),
        (b"application/json, */*;q=0.1", True),
        (b"application/json", False),
        (b"text/event-stream", False),
        (b"application/json-seq, text/event-streams", False),
        (b"", False),
    ],
)
def test_what_is_accepted_is_named(value: bytes | None, expected: bool) -> None:
    assert accepts(value, JSON, EVENT_STREAM) is expected


@pytest.mark.parametrize(
    ("name", "value", "error", "told"),
    [
        ("X-Key", 1, TypeError, r"headers are text: 'X-Key' is str, its value int"),
        (1, "s3cret", TypeError, r"headers are text: 1 is int, its value str"),
        ("", "s3cret", ValueError, r"'' cannot be the name"),
        ("a b", "s3cret", ValueError, r"'a b' cannot be the name"),
        ("é", "s3cret", ValueError, r"cannot be the name"),
        ("X-Key", "s3cret\r\nHost: x", ValueError, r"the header X-Key has line breaks"),
        ("X-Key", "s3cret\x00", ValueError, r"the header X-Key has line breaks, control"),
        ("X-Key", " s3cret", ValueError, r"blanks around it"),
    ],
)
def test_a_header_of_the_users_that_cannot_be_sent(name: Any, value: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told) as caught:
        HTTPServer("http://h/mcp", headers={name: value})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("X-Key", "a\tb c"), ("x!#$%&'*+-.^_`|~1", ""), ("A", "é")])
def test_a_header_of_the_users_that_is_sent_as_it_is(name: str, value: str) -> None:
    assert HTTPServer("http://h/mcp", headers={name: value}).headers == {name: value}
