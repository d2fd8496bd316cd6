"""The file's format, which is that of the original server: a JSON object on each line, entities first, then relations.

A line that cannot be read is set aside, and the rest is read all the same. Two lines about entities of one name and
type become one entity with the observations of both; a second one of another type is set aside.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from splice.servers.memory.graph import Entity, Graph, Key, Relation, key_of


class _EntityLine(Entity, frozen=True, tag_field="type", tag="entity"):
    """A line that is an entity."""


class _RelationLine(Relation, frozen=True, tag_field="type", tag="relation"):
    """A line that is a relation."""


_DECODER = msgspec.json.Decoder(_EntityLine | _RelationLine)
_ENCODER = msgspec.json.Encoder()


def read(data: bytes) -> Graph:
    """Read a file. Never fails: what cannot be read is in `rejected`."""
    rejected: list[bytes] = []
    try:
        found = _DECODER.decode_lines(data)
    except (ValueError, RecursionError):
        found = [each for line in data.split(b"\n") if (each := _line(line, rejected)) is not None]
    entities: dict[str, Entity] = {}
    relations: dict[Key, Relation] = {}
    merged: dict[str, dict[str, None]] = {}
    for each in found:
        if isinstance(each, _RelationLine):
            relation = Relation(each.source, each.target, each.relationType)
            relations.setdefault(key_of(relation), relation)
        else:
            entity = Entity(each.name, each.entityType, each.observations)
            known = entities.setdefault(entity.name, entity)
            if known is not entity and known.entityType != entity.entityType:
                rejected.append(_ENCODER.encode(each))
            elif known is not entity:
                both = merged[known.name] if known.name in merged else dict.fromkeys(known.observations)
                both.update(dict.fromkeys(entity.observations))
                merged[known.name] = both
    entities.update({name: replace(entities[name], observations=list(both)) for name, both in merged.items()})
    return Graph(entities, relations, rejected)


def write(graph: Graph) -> bytes:
    """Write a file."""
    parts = _tagged(b"entity", graph.entities.values()), _tagged(b"relation", graph.relations.values())
    return b"\n".join(filter(None, parts))


def _line(line: bytes, rejected: list[bytes]) -> _EntityLine | _RelationLine | None:
    if not line.strip():
        return None
    try:
        found: _EntityLine | _RelationLine = _DECODER.decode(line)
    except (ValueError, RecursionError):
        rejected.append(line)
        return None
    return found


def _tagged(tag: bytes, these: Iterable[Entity] | Iterable[Relation]) -> bytes:
    """Write lines, and put the tag in front of each; a line break within JSON is always escaped."""
    text = _ENCODER.encode_lines([*these]).rstrip(b"\n")
    start = b'{"type":"' + tag + b'",'
    return start + text.removeprefix(b"{").replace(b"\n{", b"\n" + start) if text else b""
