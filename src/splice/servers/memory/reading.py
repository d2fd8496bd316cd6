"""The tools that read the graph, and the graph as a resource."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from splice import Server
from splice.servers.memory.graph import Entity, Graph
from splice.servers.memory.search import search
from splice.servers.memory.shapes import MAX_NAME, Shown, note
from splice.servers.memory.store import REJECTED, Store
from splice.types import ResourceContents, ToolAnnotations

URI = "memory://knowledge-graph"

SHOWN = 1_000
"""How many entities `read_graph` shows unless told otherwise."""

FOUND = 100
"""How many entities `search_nodes` shows unless told otherwise."""

MOST = 100_000
"""How many entities an answer may show."""

MAX_RELATIONS = 20_000
"""How many relations an answer shows."""

Limit = Annotated[int, Meta(ge=1, le=MOST, description="How many entities to show at most")]


def offer_reading(server: Server, store: Store) -> None:
    """Offer the tools that read, and the resource."""
    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

    @server.tool(title="Read the graph", annotations=hints)
    def read_graph(
        offset: Annotated[int, Meta(ge=0, description="How many entities to pass over")] = 0, limit: Limit = SHOWN
    ) -> Shown:
        """Read all entities with their observations, and all relations; a large graph in parts, by offset and limit."""
        return _part(store, offset, limit)

    @server.tool(title="Search", annotations=hints)
    def search_nodes(
        query: Annotated[str, Meta(max_length=MAX_NAME, description="Part of a name, a type or an observation")],
        limit: Limit = FOUND,
    ) -> Shown:
        """Find the entities that contain a text, the best first, and the relations at them.

        Upper and lower case are the same. If nothing contains several words as they stand, what contains some of them
        is found.
        """
        return _found(store, query, limit)

    @server.tool(title="Open nodes", annotations=hints)
    def open_nodes(names: Annotated[list[str], Meta(description="The names of the entities")]) -> Shown:
        """Read entities by their names, and the relations at them. Names that nothing has are passed over."""
        graph, wanted = store.read(), set(names)
        found = [each for name, each in graph.entities.items() if name in wanted]
        return _shown(store, graph, found, graph.touching({each.name for each in found}))

    @server.resource(URI, name="knowledge-graph", title="Knowledge graph", mime_type="application/json")
    def knowledge_graph() -> ResourceContents:
        """Read the whole graph, all entities and relations."""
        graph = store.read()
        whole = {"entities": list(graph.entities.values()), "relations": list(graph.relations.values())}
        text = msgspec.json.format(msgspec.json.encode(whole), indent=2).decode()
        return ResourceContents(uri=URI, mime_type="application/json", text=text)


def _part(store: Store, offset: int, limit: int) -> Shown:
    """Read a part of the graph: each entity, and each relation, is in one part."""
    graph = store.read()
    entities = list(graph.entities.values())
    part, total = entities[offset : offset + limit], len(entities)
    if len(part) == total:
        return _shown(store, graph, part, graph.relations.values())
    names, is_last = {each.name for each in part}, offset < total <= offset + limit
    relations = [
        each
        for each in graph.relations.values()
        if each.source in names or (is_last and each.source not in graph.entities)
    ]
    if not part:
        return _shown(store, graph, part, relations, f"There are {total} entities, and no more at offset {offset}")
    rest = "" if is_last else f"; the next ones begin at offset {offset + limit}"
    which = f"Entities {offset + 1} to {offset + len(part)} of {total}, with the relations that start there{rest}"
    return _shown(store, graph, part, relations, which)


def _found(store: Store, query: str, limit: int) -> Shown:
    graph = store.read()
    found = search(graph, query)
    part, total, notes = list(found.entities[:limit]), len(found.entities), list[str]()
    if part and found.by_words:
        notes.append("Nothing contains the whole query; these contain words of it")
    if len(part) < total:
        notes.append(f"The best {len(part)} of {total}: say more, or ask for a larger limit")
    return _shown(store, graph, part, graph.touching({each.name for each in part}), *notes)


def _shown(store: Store, graph: Graph, entities: list[Entity], relations: Any, *notes: str) -> Shown:
    """Put an answer together, with notes about what it lacks."""
    said, these = list(notes), list(relations)
    if len(these) > MAX_RELATIONS:
        said.append(f"{MAX_RELATIONS} of {len(these)} relations; the resource {URI} has all")
    if graph.rejected:
        said.append(
            f"{len(graph.rejected)} lines of the file cannot be read and are left out; "
            f"the next change moves them to {store.path.name}{REJECTED}"
        )
    return Shown(entities, these[:MAX_RELATIONS], note(said))
