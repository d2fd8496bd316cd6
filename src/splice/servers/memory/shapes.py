"""The shapes of arguments and results, and the texts of a result."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from splice.servers.memory.graph import Entity, Relation

MAX_NAME = 1_000
"""How many characters a name, or a type, may have."""

MAX_OBSERVATION = 20_000
"""How many characters an observation may have."""

MAX_NAMED = 10
"""How many names a note lists."""

Name = Annotated[str, Meta(max_length=MAX_NAME)]
Observation = Annotated[str, Meta(max_length=MAX_OBSERVATION)]


class NewEntity(Struct, frozen=True):
    """An entity to remember."""

    name: Annotated[Name, Meta(description="Its name, by which it is found again")]
    entityType: Annotated[Name, Meta(description="What it is, such as person or project")]
    observations: Annotated[list[Observation], Meta(description="What is known about it, one fact each")]


class Edge(Struct, frozen=True):
    """A relation between two entities."""

    source: Annotated[Name, Meta(description="The name of the entity where it starts")] = field(name="from")
    target: Annotated[Name, Meta(description="The name of the entity where it ends")] = field(name="to")
    relationType: Annotated[Name, Meta(description="What it is, in active voice, such as works_at")]


class NewObservations(Struct, frozen=True):
    """Facts about an entity that is there."""

    entityName: Annotated[str, Meta(description="The name of the entity")]
    contents: Annotated[list[Observation], Meta(description="What is now known about it, one fact each")]


class OldObservations(Struct, frozen=True):
    """Facts that no longer hold."""

    entityName: Annotated[str, Meta(description="The name of the entity")]
    observations: Annotated[list[str], Meta(description="The observations to delete, word for word")]


class Created(Struct, frozen=True, omit_defaults=True):
    """The entities that are new."""

    entities: list[Entity]
    note: str | None = None


class Related(Struct, frozen=True, omit_defaults=True):
    """The relations that are new."""

    relations: list[Relation]
    note: str | None = None


class Added(Struct, frozen=True):
    """What is new about an entity."""

    entityName: str
    addedObservations: list[str]


class Observed(Struct, frozen=True, omit_defaults=True):
    """What is new, entity by entity."""

    results: list[Added]
    note: str | None = None


class Done(Struct, frozen=True, omit_defaults=True):
    """Something was deleted."""

    success: bool
    message: str
    note: str | None = None


class Shown(Struct, frozen=True, omit_defaults=True):
    """A part of the graph, or all of it."""

    entities: list[Entity]
    relations: list[Relation]
    note: str | None = None


def texts(structure: dict[str, Any]) -> list[Any]:
    """Tell which texts a result has: as the original wrote it, and a note after that."""
    said = {name: value for name, value in structure.items() if name != "note"}
    if "message" in said:
        said = {"message": said["message"]}
    return [*(said.values() if len(said) == 1 else [said]), *([structure["note"]] if "note" in structure else [])]


def note(notes: Sequence[str]) -> str | None:
    """Make one note of several; None of none."""
    return ". ".join(notes) + "." if notes else None


def plain(text: str) -> str:
    """Write what a peer sent into an error: as one line, and not all of it."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text[:MAX_NAME])


def listed(names: Sequence[str]) -> str:
    """Name the first of these, and tell how many more there are."""
    shown = ", ".join(repr(each[:100]) for each in dict.fromkeys(names[:MAX_NAMED]))
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
