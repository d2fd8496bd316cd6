"""The tools that change the graph."""

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from splice import Server, ToolError
from splice.servers.memory.graph import Entity, Graph, Relation
from splice.servers.memory.shapes import (
    Added,
    Created,
    Done,
    Edge,
    NewEntity,
    NewObservations,
    Observed,
    OldObservations,
    Related,
    listed,
    note,
    plain,
)
from splice.types import ToolAnnotations

Change: TypeAlias = Callable[[Callable[[Graph], tuple[Graph, Any]]], tuple[Any, list[str]]]


def offer_creating(server: Server, change: Change) -> None:
    """Offer the tools that add something."""
    hints = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

    @server.tool(title="Create entities", annotations=hints)
    def create_entities(entities: list[NewEntity]) -> Created:
        """Remember new entities. One whose name is taken is left as it is; the answer has those that are new."""
        new = [Entity(each.name, each.entityType, each.observations) for each in entities]
        added, notes = change(lambda graph: graph.create_entities(new))
        names = {each.name for each in added}
        taken = [each.name for each in new if each.name not in names]
        if taken:
            notes.append(f"There already, and left as it was: {listed(taken)}. add_observations adds to what is there")
        return Created(added, note(notes))

    @server.tool(title="Create relations", annotations=hints)
    def create_relations(relations: list[Edge]) -> Related:
        """Connect entities, in active voice. What is connected so already is left out of the answer."""

        def edit(graph: Graph) -> tuple[Graph, Any]:
            after, added = graph.create_relations(map(_relation, relations))
            ends = dict.fromkeys(name for each in added for name in (each.source, each.target))
            return after, (added, [name for name in ends if name not in graph.entities])

        (added, missing), notes = change(edit)
        if missing:
            notes.append(f"There is no entity {listed(missing)} yet: create it, or delete the relation")
        return Related(added, note(notes))

    @server.tool(title="Add observations", annotations=hints)
    def add_observations(observations: list[NewObservations]) -> Observed:
        """Add facts to entities that exist. The answer has those that are new; an unknown entity stops all."""
        added, notes = change(lambda graph: _observed(graph, observations))
        return Observed([Added(name, contents) for name, contents in added], note(notes))


def offer_deleting(server: Server, change: Change) -> None:
    """Offer the tools that delete something."""
    hints = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

    def done(what: str, edit: Callable[[Graph], Graph]) -> Done:
        _, notes = change(lambda graph: (edit(graph), None))
        return Done(success=True, message=f"{what} deleted successfully", note=note(notes))

    @server.tool(title="Delete entities", annotations=hints)
    def delete_entities(entityNames: Annotated[list[str], Meta(description="Which ones")]) -> Done:
        """Forget entities and all relations at them. Names that nothing has are passed over."""
        return done("Entities", lambda graph: graph.delete_entities(entityNames))

    @server.tool(title="Delete observations", annotations=hints)
    def delete_observations(deletions: list[OldObservations]) -> Done:
        """Forget facts about entities, which stay. What is not there is passed over."""
        gone = [(each.entityName, each.observations) for each in deletions]
        return done("Observations", lambda graph: graph.delete_observations(gone))

    @server.tool(title="Delete relations", annotations=hints)
    def delete_relations(relations: list[Edge]) -> Done:
        """Forget relations; their entities stay. What is not there is passed over."""
        return done("Relations", lambda graph: graph.delete_relations(map(_relation, relations)))


def _observed(graph: Graph, observations: list[NewObservations]) -> tuple[Graph, Any]:
    unknown = [each.entityName for each in observations if each.entityName not in graph.entities]
    if unknown:
        raise ToolError(f"Entity with name {plain(unknown[0])} not found")
    return graph.add_observations((each.entityName, each.contents) for each in observations)


def _relation(edge: Edge) -> Relation:
    return Relation(edge.source, edge.target, edge.relationType)
