"""The knowledge graph: entities with observations, and relations between them.

A graph never changes: a change makes a new one. So a reader on another thread never sees half a change, and a change
that cannot be written never happened.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

MAX_ENTITIES = 200_000
"""How many entities may be created."""

MAX_RELATIONS = 500_000
"""How many relations may be created."""

MAX_OBSERVATIONS = 10_000
"""How many observations an entity may get."""


class Full(ValueError):
    """The graph may not grow any more. The message is for the model."""


class Entity(Struct, frozen=True):
    """A node. Nobody changes the list."""

    name: str
    entityType: str
    observations: list[str]


class Relation(Struct, frozen=True):
    """A directed edge; its ends need not exist."""

    source: str = field(name="from")
    target: str = field(name="to")
    relationType: str


Key: TypeAlias = tuple[str, str, str]


def key_of(relation: Relation) -> Key:
    """Tell what makes a relation the same as another."""
    return relation.source, relation.target, relation.relationType


class Graph(Struct, frozen=True, eq=False):
    """All that is remembered, in the order in which it was."""

    entities: dict[str, Entity] = {}
    relations: dict[Key, Relation] = {}
    rejected: Sequence[bytes] = ()
    """The lines of the file that could not be read."""

    def create_entities(self, new: Iterable[Entity]) -> tuple["Graph", list[Entity]]:
        """Add entities whose names are new. Raises `Full`."""
        entities = dict(self.entities)
        added = [each for each in new if entities.setdefault(each.name, each) is each]
        _check(len(entities), MAX_ENTITIES, "entities")
        for each in added:
            _check(len(each.observations), MAX_OBSERVATIONS, "observations of an entity")
        return (replace(self, entities=entities) if added else self), added

    def create_relations(self, new: Iterable[Relation]) -> tuple["Graph", list[Relation]]:
        """Add relations that are new. Raises `Full`."""
        relations = dict(self.relations)
        added = [each for each in new if relations.setdefault(key_of(each), each) is each]
        _check(len(relations), MAX_RELATIONS, "relations")
        return (replace(self, relations=relations) if added else self), added

    def add_observations(self, new: Iterable[tuple[str, Sequence[str]]]) -> tuple["Graph", list[tuple[str, list[str]]]]:
        """Add observations that an entity does not have yet. Raises `KeyError` for an unknown entity, and `Full`."""
        known, more, answers = dict[str, set[str]](), dict[str, list[str]](), list[tuple[str, list[str]]]()
        for name, contents in new:
            if name not in known:
                known[name], more[name] = set(self.entities[name].observations), []
            added = [each for each in dict.fromkeys(contents) if each not in known[name]]
            known[name].update(added)
            _check(len(known[name]), MAX_OBSERVATIONS, "observations of an entity")
            more[name] += added
            answers.append((name, added))
        grown = {
            name: self._observed(name, [*self.entities[name].observations, *more[name]]) for name in more if more[name]
        }
        return (replace(self, entities={**self.entities, **grown}) if grown else self), answers

    def delete_entities(self, names: Collection[str]) -> "Graph":
        """Forget entities, and the relations at them."""
        gone = set(names)
        entities = {name: each for name, each in self.entities.items() if name not in gone}
        relations = {
            key: each for key, each in self.relations.items() if not (each.source in gone or each.target in gone)
        }
        is_same = len(entities) == len(self.entities) and len(relations) == len(self.relations)
        return self if is_same else replace(self, entities=entities, relations=relations)

    def delete_observations(self, gone: Iterable[tuple[str, Collection[str]]]) -> "Graph":
        """Forget observations of entities; what is not there is forgotten already."""
        these: dict[str, set[str]] = {}
        for name, observations in gone:
            if name in self.entities:
                these.setdefault(name, set()).update(observations)
        shrunk = {
            name: self._observed(name, [each for each in self.entities[name].observations if each not in observations])
            for name, observations in these.items()
            if not observations.isdisjoint(self.entities[name].observations)
        }
        return replace(self, entities={**self.entities, **shrunk}) if shrunk else self

    def delete_relations(self, gone: Iterable[Relation]) -> "Graph":
        """Forget relations; what is not there is forgotten already."""
        keys = set(map(key_of, gone))
        relations = {key: each for key, each in self.relations.items() if key not in keys}
        return self if len(relations) == len(self.relations) else replace(self, relations=relations)

    def _observed(self, name: str, observations: list[str]) -> Entity:
        return replace(self.entities[name], observations=observations)

    def touching(self, names: Collection[str]) -> list[Relation]:
        """List the relations that begin or end at one of these."""
        return [each for each in self.relations.values() if each.source in names or each.target in names]


def _check(count: int, most: int, what: str) -> None:
    if count > most:
        raise Full(f"That would be {count} {what}; there may be {most}. Delete what is out of date first")
