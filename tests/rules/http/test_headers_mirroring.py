"""Headers that repeat the body, from both sides: written by the client, checked by the server."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import HeaderMismatch
from splice.rules.http.headers import (
    MAX_HEADER_INTEGER,
    Headers,
    check_param_headers,
    check_standard_headers,
    encode_header,
    header_parameters,
    param_headers,
    standard_headers,
)
from support.tables import rows


def headers(values: dict[str, str]) -> Headers:
    return Headers([(name.lower().encode(), value.encode("latin-1")) for name, value in values.items()])


GOOD = {"MCP-Protocol-Version": "v", "Mcp-Method": "tools/call", "Mcp-Name": "add"}


@pytest.mark.parametrize(
    "change", [{}, {"Mcp-Name": "  add  "}, {"Mcp-Name": "=?base64?YWRk?="}, {"Mcp-Method": " tools/call"}]
)
def test_headers_that_agree_pass(change: dict[str, str]) -> None:
    check_standard_headers(headers(GOOD | change), "v", "tools/call", "add")


@pytest.mark.parametrize("missing", GOOD)
def test_a_missing_header_is_named(missing: str) -> None:
    left = {name: value for name, value in GOOD.items() if name != missing}
    with pytest.raises(HeaderMismatch, match=f"{missing} is missing"):
        check_standard_headers(headers(left), "v", "tools/call", "add")


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP-Protocol-Version", "w"),
        ("MCP-Protocol-Version", "=?base64?dg==?="),
        ("Mcp-Method", "TOOLS/CALL"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", ""),
        ("Mcp-Name", "Add"),
        ("Mcp-Name", "=?base64?QWRk?="),
        ("Mcp-Name", "=?base64?YWRk"),
        ("Mcp-Name", "=?base64?YWR?="),
        ("Mcp-Name", "addé"),
    ],
)
@pytest.mark.requirement(172)
def test_a_header_that_disagrees_is_named(header: str, value: str) -> None:
    with pytest.raises(HeaderMismatch, match=f"Header mismatch: {header}"):
        check_standard_headers(headers(GOOD | {header: value}), "v", "tools/call", "add")


def test_a_repeated_header_disagrees() -> None:
    given = Headers([(name.lower().encode(), value.encode()) for name, value in [*GOOD.items(), ("Mcp-Name", "add")]])
    with pytest.raises(HeaderMismatch, match="Mcp-Name is 'add, add'"):
        check_standard_headers(given, "v", "tools/call", "add")


@pytest.mark.parametrize("name", ["add", "", " add ", "世界", "=?base64?YWRk?=", "a\nb", None])
@pytest.mark.requirement(138)
def test_headers_that_a_client_writes_pass_the_check_of_a_server(name: str | None) -> None:
    written = standard_headers("v", "tools/call", name)
    assert ("Mcp-Name" in written) is (name is not None)
    assert all(value.isascii() for value in written.values())
    check_standard_headers(headers(written), "v", "tools/call", name)


def test_no_name_is_asked_for_where_none_is_due() -> None:
    check_standard_headers(headers({"MCP-Protocol-Version": "v", "Mcp-Method": "tools/list"}), "v", "tools/list", None)


@pytest.mark.parametrize("name", ["=?base64?YWRk?=", "世界", " add ", "añadir"])
@pytest.mark.requirement(145)
def test_names_that_need_encoding_must_be_encoded(name: str) -> None:
    check_standard_headers(headers(GOOD | {"Mcp-Name": encode_header(name)}), "v", "tools/call", name)
    raw = Headers([(k.lower().encode(), v.encode()) for k, v in (GOOD | {"Mcp-Name": name}).items()])
    with pytest.raises(HeaderMismatch):
        check_standard_headers(raw, "v", "tools/call", name)


# Marked arguments.

STRING = {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def marked(name: Any, type: Any = "string") -> dict[str, Any]:
    return {"type": type, "x-mcp-header": name}


def test_marked_properties_are_found_at_any_depth() -> None:
    found = header_parameters(
        schema(a=marked("A"), b=STRING, c=schema(d=marked("D", "integer"), properties=marked("E", "boolean")))
        | {"required": ["a"], "default": {"x-mcp-header": "data, not a mark"}, "allOf": None}
    )
    assert found == {("a",): "A", ("c", "d"): "D", ("c", "properties"): "E"}
    assert header_parameters({}) == {}
    assert header_parameters({"properties": {"a": True}}) == {}


@rows(
    ("bad", "rule"),
    [
        (schema(a=marked("")), "empty"),
        (schema(a=marked(None)), "empty"),
        (schema(a=marked(3)), "empty"),
        (schema(a=marked("a b")), "characters"),
        (schema(a=marked("a\r\nb")), "characters"),
        (schema(a=marked("a:b")), "characters"),
        (schema(a=marked("é")), "characters"),
        (schema(a=marked("Region"), b=marked("rEGION")), "twice"),
        (schema(a=marked("A"), b=schema(c=marked("A"))), "twice"),
        *((schema(a=marked("A", type)), "type") for type in ("number", "object", "array", "null", ["string"], None)),
        (schema(a={"x-mcp-header": "A"}), "type"),
        (marked("A"), "only chains of `properties`"),
        *(
            ({"type": "object", keyword: inner}, "only chains of `properties`")
            for keyword, inner in {
                "$defs": {"a": marked("A")},
                "definitions": {"a": marked("A")},
                "patternProperties": {"a": marked("A")},
                "dependentSchemas": {"a": schema(b=marked("A"))},
                "allOf": [schema(a=marked("A"))],
                "anyOf": [STRING, schema(a=marked("A"))],
                "oneOf": [schema(a=marked("A"))],
                "prefixItems": [marked("A")],
                "items": schema(a=marked("A")),
                "additionalProperties": marked("A"),
                "not": marked("A"),
                "if": schema(a=marked("A")),
                "then": schema(a=marked("A")),
                "else": schema(a=marked("A")),
                "contains": marked("A"),
                "properties": {"a": {"type": "array", "items": marked("A")}},
                "prefixed": {"items": [STRING, marked("A")]},
                "dependencies": {"a": ["b"], "b": schema(c=marked("A"))},
                "x-unknown": {"deep": [{"any": schema(a=marked("A"))}]},
            }.items()
        ),
    ],
)
@pytest.mark.requirement(147, 148, 149, 150, 152, 153)
def test_a_broken_rule_is_named(bad: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        header_parameters(bad)


class Watched(str):
    """A name that counts how often names are compared."""

    __slots__ = ()
    compared = 0

    def lower(self) -> "Watched":
        return Watched(super().lower())

    def __eq__(self, other: object) -> bool:
        Watched.compared += 1
        assert Watched.compared <= MANY, "every name is compared to all the others"
        return super().__eq__(other)

    __hash__ = str.__hash__


MANY = 50_000


def test_many_marked_properties_are_read_in_one_pass() -> None:
    found = header_parameters(schema(**{f"p{place}": marked(Watched(f"P{place}")) for place in range(MANY)}))
    assert len(found) == MANY


@rows("odd", [5, "text", True, None, [5], [[{}]], {"a": 5}, {"a": [None]}, ["#"]])
@rows("keyword", ["allOf", "items", "properties", "$defs", "dependencies", "if", "$ref", "type"])
def test_no_shape_is_trusted(keyword: str, odd: Any) -> None:
    assert header_parameters({keyword: odd}) == {}
    assert header_parameters(schema(a=marked("A")) | {"allOf": [{keyword: odd}]}) == {("a",): "A"}


DESIGNATED = {("region",): "Region", ("limit",): "Limit", ("deep", "flag"): "Flag"}


@pytest.mark.requirement(157, 162)
def test_arguments_become_headers() -> None:
    assert param_headers(DESIGNATED, {"region": "世界", "limit": -7, "deep": {"flag": True}, "other": 1}) == {
        "Mcp-Param-Region": "=?base64?5LiW55WM?=",
        "Mcp-Param-Limit": "-7",
        "Mcp-Param-Flag": "true",
    }


@pytest.mark.parametrize("arguments", [{}, {"region": None, "deep": None}, {"deep": {"flag": None}}, {"deep": "text"}])
@pytest.mark.requirement(163, 164)
def test_what_is_absent_or_null_has_no_header(arguments: dict[str, Any]) -> None:
    assert param_headers(DESIGNATED, arguments) == {}
    check_param_headers(DESIGNATED, arguments, headers({}))


@pytest.mark.requirement(151)
def test_integers_that_readers_disagree_on_are_not_sent() -> None:
    assert param_headers(DESIGNATED, {"limit": -MAX_HEADER_INTEGER})
    with pytest.raises(ValueError, match="too large"):
        param_headers(DESIGNATED, {"limit": MAX_HEADER_INTEGER + 1})


@pytest.mark.parametrize(
    ("argument", "header"),
    [
        ({"region": "Hello"}, {"Mcp-Param-Region": "=?base64?SGVsbG8=?="}),
        ({"region": "SGVsbG8="}, {"mcp-param-region": "SGVsbG8="}),
        ({"region": "=?base64?SGVsbG8="}, {"MCP-PARAM-REGION": "=?base64?SGVsbG8="}),
        ({"region": ""}, {"Mcp-Param-Region": ""}),
        ({"limit": 42}, {"Mcp-Param-Limit": "42"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "42.0"}),
        ({"limit": 42.0}, {"Mcp-Param-Limit": "42"}),
        ({"limit": -1}, {"Mcp-Param-Limit": " -1 "}),
        ({"limit": -MAX_HEADER_INTEGER}, {"Mcp-Param-Limit": str(-MAX_HEADER_INTEGER)}),
        ({"deep": {"flag": False}}, {"Mcp-Param-Flag": "false"}),
        ({"region": ["not mirrored"]}, {"Mcp-Param-Region": "left to the check of the arguments"}),
    ],
)
@pytest.mark.requirement(160, 171, 173)
def test_mirrored_arguments_pass(argument: dict[str, Any], header: dict[str, str]) -> None:
    check_param_headers(DESIGNATED, argument, headers(header))


@rows(
    ("argument", "header"),
    [
        ({"limit": 2**60}, {"Mcp-Param-Limit": str(2**60)}),
        ({"region": "a"}, {}),
        ({"region": "a"}, {"Mcp-Param-Region": "b"}),
        ({"region": "a"}, {"Mcp-Param-Region": "A"}),
        ({"region": "Hello"}, {"Mcp-Param-Region": "=?base64?SGVsbG8?="}),
        ({"region": "Hello"}, {"Mcp-Param-Region": "=?base64?SGVs!!!bG8=?="}),
        ({}, {"Mcp-Param-Region": "a"}),
        ({"region": None}, {"Mcp-Param-Region": "null"}),
        ({"region": "42"}, {"Mcp-Param-Region": "42.0"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "43"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "42.5"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "4_2"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "+42"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "4.2e1"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "0x2a"}),
        ({"limit": 1}, {"Mcp-Param-Limit": "1" * 5000}),
        ({"limit": 1}, {"Mcp-Param-Limit": "-"}),
        ({"deep": {"flag": True}}, {"Mcp-Param-Flag": "True"}),
        ({"deep": {"flag": True}}, {"Mcp-Param-Flag": "1"}),
    ],
)
@pytest.mark.requirement(151, 167, 168, 169)
def test_arguments_and_headers_that_disagree_are_refused(argument: dict[str, Any], header: dict[str, str]) -> None:
    with pytest.raises(HeaderMismatch, match="Mcp-Param-"):
        check_param_headers(DESIGNATED, argument, headers(header))


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "region": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
            "limit": st.integers(-MAX_HEADER_INTEGER, MAX_HEADER_INTEGER),
            "deep": st.fixed_dictionaries({"flag": st.booleans()}),
        },
    )
)
def test_what_the_client_writes_the_server_accepts(arguments: dict[str, Any]) -> None:
    check_param_headers(DESIGNATED, arguments, headers(param_headers(DESIGNATED, arguments)))


# Media types and status.
