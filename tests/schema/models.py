"""Types of every supported kind, for the tests of this package."""

import dataclasses
import enum
from typing import Annotated, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import annotated_types as at
import attrs
import msgspec
import pydantic

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    """A place.

    Attributes:
        x: To the right.
    """

    x: int
    y: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Limited:
    """Limits that msgspec does not know."""

    size: Annotated[int, at.Ge(3)]
    name: str = "x"


@dataclasses.dataclass
class Tree:
    """Holds itself."""

    children: "list[Tree]"


@dataclasses.dataclass
class LimitedTree:
    """Holds itself, by way of another class, and limits."""

    size: Annotated[int, at.Ge(3)]
    branches: "list[LimitedBranch]" = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class LimitedBranch:
    tree: LimitedTree | None = None


@dataclasses.dataclass
class Box(Generic[T]):
    content: T
    more: list[T]


class Movie(TypedDict):
    title: str
    year: NotRequired[int]
    rating: NotRequired[Annotated[int, msgspec.Meta(le=5), "Stars."]]


class Paint(TypedDict):
    color: Color


class Pair(NamedTuple):
    first: int
    second: str = "b"


class LimitedPair(NamedTuple):
    first: Annotated[int, at.Ge(3)]
    second: str = "b"


class User(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    user_name: Annotated[str, msgspec.Meta(min_length=2, description="Who.")]
    log_count: int = 0


class Cat(msgspec.Struct, tag="cat"):
    lives: int


class Dog(msgspec.Struct, tag="dog"):
    legs: Annotated[int, msgspec.Meta(ge=0)] = 4


class Row(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    a: int
    b: str = "x"


@attrs.define
class Car:
    wheels: int = attrs.field(validator=attrs.validators.ge(3))
    _owner: str = "me"
    seats: list[str] = attrs.field(factory=list)


class Address(pydantic.BaseModel):
    street: str
    number: int = pydantic.Field(ge=1, description="On the door.")


class Person(pydantic.BaseModel):
    """Somebody."""

    home: Address
    friend: "Person | None" = None
    shoe_size: int = pydantic.Field(40, alias="shoeSize")


@pydantic.dataclasses.dataclass
class Stored:
    size: Annotated[int, pydantic.Field(ge=3)]


class Circle(pydantic.BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(pydantic.BaseModel):
    kind: Literal["square"]
    side: float
