"""A function's signature is its schema, its decoder and its result."""

import dataclasses
import functools
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

import annotated_types as at
import msgspec
import pydantic
import pytest
from msgspec import UNSET, Raw

from schema.models import Address, Color, Movie, Person, Point, Tree, User
from splice.schema import functions
from splice.schema.annotations import Header
from splice.schema.functions import dump, output_schema
from splice.schema.schemas import BadArguments
from support.tables import rows

Signature = functools.partial(functions.Signature, skip=lambda _: False, opaque=())

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found]  # it is meant not to exist


class Context:
    """Stands for what servers inject."""


def is_context(annotation: Any) -> bool:
    return annotation is Context


def weather(city: str, days: int = 3, *, unit: Literal["C", "F"] = "C", ctx: Context) -> dict[str, Any]:
    """Tell the weather.

    For anywhere.

    Args:
        city: Where.
        days: How many
            to look ahead.
        ctx: Not for the caller.
    """
    return {}


def test_a_signature() -> None:
    signature = Signature(weather, skip=is_context)
    assert signature.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "How many to look ahead.", "default": 3},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert signature.output_schema == {"type": "object"}
    assert signature.description == "Tell the weather.\n\nFor anywhere."
    assert signature.injected == {"ctx": Context}
    assert not signature.is_async


def test_nothing_at_all() -> None:
    def nothing():  # type: ignore[no-untyped-def]  # it is what is tested
        pass

    signature = Signature(nothing)
    assert signature.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert signature.output_schema is None
    assert signature.description == ""
    assert signature.arguments(b"{}") == {}
    with pytest.raises(BadArguments, match=r"^x: unknown name; known are: none$"):
        signature.arguments(Raw(b'{"x":1}'))


def test_what_is_left_out_stays_out() -> None:
    signature = Signature(weather, skip=is_context)
    assert signature.arguments(Raw(b'{"city":"Oslo"}')) == {"city": "Oslo"}
    assert signature.arguments(b'{"unit":"F","city":"Oslo","days":4}') == {"city": "Oslo", "days": 4, "unit": "F"}


def test_one_point_zero_is_an_integer() -> None:
    signature = Signature(weather, skip=is_context)
    found = signature.arguments(b'{"city":"Oslo","days":3.0}')
    assert repr(found) == "{'city': 'Oslo', 'days': 3}"


@rows(
    ("raw", "message"),
    [
        (b"{}", "city: required, but missing"),
        (b"[]", "arguments: expected object, got []"),
        (b"null", "arguments: expected object, got null"),
        (b'{"city":', "arguments: Input data was truncated"),
        (b'{"city":1}', "city: expected string, got 1"),
        (b'{"city":"a","days":"x"}', 'days: expected integer, got "x"'),
        (b'{"city":"a","days":1.5}', "days: expected integer, got 1.5"),
        (b'{"city":"a","days":1e999}', "arguments: Number out of range - at `$[...]`"),
        (b'{"city":"a","unit":"K"}', 'unit: expected one of "C", "F", got "K"'),
        (b'{"city":"a","town":"b"}', "town: unknown name; known are: city, days, unit"),
        (
            b'{"days":null,"unit":1,"x":2.0}',
            (
                "days: expected integer, got null\n"
                "unit: expected string, got 1\n"
                'unit: expected one of "C", "F", got 1\n'
                "x: unknown name; known are: city, days, unit\n"
                "city: required, but missing"
            ),
        ),
        (
            b'{"city":' + b"[" * 5000 + b"]" * 5000 + b"}",
            "arguments: maximum recursion depth exceeded while deserializing an object",
        ),
        (b"[" * 5000 + b"]" * 5000, "arguments: maximum recursion depth exceeded while deserializing an object"),
    ],
)
def test_bad_arguments(raw: bytes, message: str) -> None:
    with pytest.raises(BadArguments) as caught:
        Signature(weather, skip=is_context).arguments(Raw(raw))
    assert str(caught.value) == message


def test_bad_arguments_deep_inside() -> None:
    def deep(
        users: list[User],
        home: Address | None = None,
        point: Point | Address | None = None,
        size: Annotated[int, at.Interval(ge=1, le=9)] = 1,
        color: Color = Color.RED,
        many: dict[str, list[int]] | None = None,
    ) -> None:
        pass

    with pytest.raises(BadArguments) as caught:
        Signature(deep).arguments(
            b'{"users":[{"userName":"ab"},{"userName":"a"}],"home":{"street":1,"number":0},"point":{"x":"a"},'
            b'"size":10,"color":"green","many":{"a":[1,"b"]}}'
        )
    assert sorted(str(caught.value).splitlines()) == [
        'color: expected one of "red", "blue", got "green"',
        "home.number: it is less than the minimum of 1, got 0",
        "home.street: expected string, got 1",
        'many.a[1]: expected integer, got "b"',
        'point.x: expected integer, got "a"',
        "size: it is greater than the maximum of 9, got 10",
        'users[1].userName: it is shorter than 2 characters, got "a"',
    ]


def test_models_arrive_as_models() -> None:
    def take(a: Address, p: Point, u: User, c: Color, more: Any = None) -> list[Address]:
        return [a]

    signature = Signature(take)
    assert signature.input_schema["properties"]["a"] == {"$ref": "#/$defs/Address"}
    assert signature.input_schema["$defs"].keys() == {"Address", "Point", "User"}
    raw = b'{"a":{"street":"s","number":1},"p":{"x":2},"u":{"userName":"ab"},"c":"blue","more":[1.0]}'
    assert signature.arguments(raw) == {
        "a": Address(street="s", number=1),
        "p": Point(2),
        "u": User("ab"),
        "c": Color.BLUE,
        "more": [1.0],
    }
    assert dump([Address(street="s", number=1)]) == [{"street": "s", "number": 1}]


@pytest.mark.parametrize("value", ["text", 3, 2.5, True, None])
def test_dumping_what_is_json_already(value: Any) -> None:
    assert dump(value) is value


def test_dumping_everything_else() -> None:
    assert dump({"a": (Color.RED, Point(1), {User("ab").user_name})}) == {
        "a": ("red", {"x": 1, "y": 0.5, "tags": []}, ["ab"])
    }
    assert dump(User("ab")) == {"userName": "ab", "logCount": 0}
    with pytest.raises(TypeError, match=r"^object cannot be written as JSON$"):
        dump(object())


def test_fields_of_pydantic_as_defaults() -> None:
    def search(
        query: str = pydantic.Field(min_length=2, description="What."),
        limit: int = pydantic.Field(10, le=50),
        tags: list[str] = pydantic.Field(["a"]),  # noqa: B008 - it is what is tested
        made: list[int] = pydantic.Field(default_factory=lambda: [1]),  # noqa: B008 - it is what is tested
        beside: Annotated[int, pydantic.Field(ge=1)] = 2,
    ) -> None:
        pass

    signature = Signature(search)
    assert signature.input_schema["properties"] == {
        "query": {"type": "string", "minLength": 2, "description": "What."},
        "limit": {"type": "integer", "maximum": 50, "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "made": {"type": "array", "items": {"type": "integer"}},
        "beside": {"type": "integer", "minimum": 1, "default": 2},
    }
    assert signature.input_schema["required"] == ["query"]
    first = signature.arguments(b'{"query":"ab"}')
    assert first == {"query": "ab", "limit": 10, "tags": ["a"], "made": [1]}
    first["tags"].append("b")
    assert signature.arguments(b'{"query":"ab"}')["tags"] == ["a"]


def test_a_default_of_none_makes_a_parameter_optional() -> None:
    def find(
        a: int = None,  # type: ignore[assignment]  # people write this  # noqa: RUF013 - people write this
        b: Annotated[str | None, Header("B")] = None,
        c: Any = None,
        d: Annotated[int, "Many."] = None,  # type: ignore[assignment]  # people write this  # noqa: RUF013 - people write this
    ) -> None:
        pass

    signature = Signature(find)
    assert signature.input_schema["properties"] == {
        "a": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "b": {"type": "string", "x-mcp-header": "B", "default": None},
        "c": {"default": None},
        "d": {"anyOf": [{"type": "integer", "description": "Many."}, {"type": "null"}], "default": None},
    }
    assert signature.arguments(b'{"a":null,"b":null,"d":3}') == {"a": None, "b": None, "d": 3}


def test_defaults_without_json() -> None:
    def take(odd: Any = object(), inf: float = float("inf"), unset: int | msgspec.UnsetType = UNSET) -> None:  # noqa: B008 - it is what is tested
        pass

    signature = Signature(take)
    assert signature.input_schema["properties"] == {"odd": {}, "inf": {"type": "number"}, "unset": {"type": "integer"}}
    assert signature.arguments(b"{}") == {}


class Service:
    def method(self, a: int) -> int:
        """Do it."""
        return a

    @classmethod
    def made(cls, a: int) -> int:
        return a

    @staticmethod
    def loose(a: int) -> int:
        return a

    async def __call__(self, a: int) -> int:
        """Be called."""
        return a


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


async def waiting(a: int, b: int = 2) -> int:
    """Wait."""
    return a + b


@pytest.mark.parametrize(
    ("function", "is_async", "description"),
    [
        (Service().method, False, "Do it."),
        (Service.made, False, ""),
        (Service.loose, False, ""),
        (Service(), True, "Be called."),
        (waiting, True, "Wait."),
        (decorated(waiting), True, "Wait."),
        (decorated(decorated(Service().method)), False, "Do it."),
        (functools.partial(waiting, b=3), True, "Wait."),
        (functools.partial(functools.partial(weather, "Oslo", 3, ctx=Context()), unit="C"), False, None),
        (lambda a: a, False, ""),
    ],
)
def test_whatever_can_be_called(function: Callable[..., Any], is_async: bool, description: str | None) -> None:
    signature = Signature(function)
    assert signature.is_async is is_async
    if description is None:
        assert signature.input_schema["properties"] == {}
    else:
        assert signature.description == description
        assert signature.arguments(b'{"a":1}') == {"a": 1}
    assert "additionalProperties" in signature.input_schema


def test_a_class_is_called_too() -> None:
    signature = Signature(Point)
    assert signature.input_schema["required"] == ["x"]
    assert signature.description == "A place."
    assert signature.arguments(b'{"x":1}') == {"x": 1}


def test_what_a_partial_filled_is_not_the_callers() -> None:
    signature = Signature(functools.partial(waiting, b=3))
    with pytest.raises(BadArguments, match=r"^b: unknown name; known are: a$"):
        signature.arguments(b'{"a":1,"b":4}')


def star(a: int, *rest: int) -> None:
    pass


def double_star(a: int, **rest: int) -> None:
    pass


def positional(a: int, /) -> None:
    pass


def untypable(a: int, b: complex) -> None:
    pass


def lost(a: "Missing") -> None:
    pass


def generator(a: int) -> Iterator[int]:
    yield a


async def async_generator(a: int) -> AsyncIterator[int]:
    yield a


def method(self, a: int) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    pass


def untyped(a: int, ctx) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    pass


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (star, "star(): `*rest` has no names; declare a list parameter instead"),
        (
            double_star,
            "double_star(): `**rest` has no schema; declare each parameter, or one dict parameter, instead",
        ),
        (positional, "positional(): `a` is positional-only, but arguments come by name; remove the `/`"),
        (generator, "generator(): a generator has no result; return a list of what it yields"),
        (async_generator, "async_generator(): a generator has no result; return a list of what it yields"),
        (method, "method(): `self` is not an argument; add the method of an object: `server.add_tool(shop.order)`"),
        (
            untyped,
            "untyped(): `ctx` has no type; write `ctx: Context` for the context, or give it the type of an argument",
        ),
        (untypable, "untypable(): parameter `b`: complex cannot be expressed in JSON Schema"),
        (
            lost,
            (
                "lost(): the name 'Missing' in its annotations is not known in its module; import or define it there, "
                "outside of `if TYPE_CHECKING` and of other functions"
            ),
        ),
    ],
)
def test_what_cannot_be_a_tool(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        Signature(function)
    assert str(caught.value) == message


@dataclasses.dataclass
class Later:
    value: "Point"


def test_annotations_may_be_strings() -> None:
    def take(a: "Later", b: "list[Literal['x']]") -> "int":
        return 1

    signature = Signature(take)
    assert signature.output_schema == {"type": "integer"}
    assert signature.arguments(b'{"a":{"value":{"x":1}},"b":["x"]}') == {"a": Later(Point(1)), "b": ["x"]}


def test_odd_names() -> None:
    def take(_private: int, class_: int, ünïcode: int, self: int, values: int, name: int) -> None:  # noqa: PLC2401 - it is what is tested
        pass

    raw = '{"_private":1,"class_":2,"ünïcode":3,"self":4,"values":5,"name":6}'.encode()
    assert list(Signature(take).arguments(raw).values()) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"name": "3"}, {"name": "3"}),
        ({"name": "a", "count": "3"}, {"name": "a", "count": 3}),
        ({"name": "a", "on": "true"}, {"name": "a", "on": True}),
        ({"name": "a", "tags": '["x"]'}, {"name": "a", "tags": ["x"]}),
        ({"name": "a", "either": "5"}, {"name": "a", "either": "5"}),
        ({"name": "a", "color": "red"}, {"name": "a", "color": Color.RED}),
        ({"name": "a", "point": '{"x":1}'}, {"name": "a", "point": Point(1)}),
    ],
)
def test_arguments_that_can_only_be_text(given: dict[str, str], wanted: dict[str, Any]) -> None:
    def take(
        name: str,
        count: int = 0,
        on: bool = False,
        tags: list[str] | None = None,
        either: int | str = 0,
        color: Color = Color.RED,
        point: Point | None = None,
    ) -> None:
        pass

    signature = Signature(take)
    assert signature.arguments_from_text(given) == wanted
    with pytest.raises(BadArguments, match=r'^count: expected integer, got "x"$'):
        signature.arguments_from_text({"name": "a", "count": "x"})
    with pytest.raises(BadArguments, match=r"^zzz: unknown name; known are: name,"):
        signature.arguments_from_text({"name": "a", "zzz": "x"})


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, msgspec; before = set(sys.modules); import splice.schema.functions; "
        "heavy = {'pydantic', 'jsonschema_rs', 'attrs', 'asyncio', 'annotated_types', 'dataclasses', 'urllib.parse'}; "
        "print(sorted((set(sys.modules) - before) & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.strip() == "[]"


def test_null_is_not_absent_for_what_pydantic_decodes() -> None:
    def take(point: Point | Movie | None = Point(3), other: Annotated[int, pydantic.AfterValidator(abs)] = -1) -> None:  # noqa: B008 - it is what is tested
        pass

    signature = Signature(take)
    assert signature.arguments(b"{}") == {}
    assert signature.arguments(b'{"point":null,"other":-3}') == {"point": None, "other": 3}
    assert signature.arguments(b'{"other":3.0}') == {"other": 3}


class Content:
    pass


class Image(Content):
    pass


OPAQUE = (Content,)


@rows(
    "kind",
    [
        *(None, type(None), Any, object, str, str | None, Annotated[str, "Words."], complex, list, list[Any], tuple),
        *(Content, Image, list[Image], tuple[Image, ...], int | Image, Union[str, list[Image]], Annotated[Image, "x"]),  # noqa: UP007 - it is what is tested
    ],
)
def test_results_without_a_schema(kind: Any) -> None:
    assert output_schema(kind, OPAQUE) is None


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Literal["a"], {"type": "string", "enum": ["a"]}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ],
)
def test_results_with_a_schema(kind: Any, schema: dict[str, Any]) -> None:
    assert output_schema(kind, OPAQUE) == schema


def test_the_definition_of_the_result_stands_at_the_root() -> None:
    schema = output_schema(Point, ())
    assert schema is not None
    assert schema["type"] == "object"
    assert "$defs" not in schema
    described = output_schema(Annotated[Point, "Where."], ())
    assert described is not None
    assert described["description"] == "Where."
    for recursive in (Tree, Person):
        schema = output_schema(recursive, ())
        assert schema is not None
        assert schema["type"] == "object"
        assert schema["$defs"][recursive.__name__]["properties"] == schema["properties"]
    addresses = output_schema(list[Address], ())
    assert addresses is not None
    assert addresses["items"] == {"$ref": "#/$defs/Address"}
