"""The tables of the database as resources: each is listed, as long as it is there."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

from splice import Call, ResourceNotFound
from splice.servers.postgres.catalog import Catalog
from splice.types import ReadResourceResult, Resource

TABLE = "postgres://{schema}/{table}/schema"


class TableEntry:
    """One table as a resource."""

    def __init__(self, definition: Resource) -> None:
        self.definition = definition

    async def run(self, _: Call, uri: str) -> ReadResourceResult:
        """Read nothing: `Tables.find` leaves that to the template. Raises `ResourceNotFound`."""
        raise ResourceNotFound(f"{uri} is listed here and read by its template")


class Tables:
    """A source that lists the tables there are."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._entries: Sequence[TableEntry] = ()

    async def entries(self) -> Sequence[TableEntry]:
        """List all tables; the same entries as before if they are the same tables."""
        found = [_resource(row["schema"], row["name"]) for row in await self._catalog.tables()]
        if found != [entry.definition for entry in self._entries]:
            self._entries = [TableEntry(each) for each in found]
        return self._entries

    async def find(self, key: str) -> TableEntry | None:
        """Find nothing: the template reads."""
        del key
        return None

    def watch(self, changed: Callable[[], None]) -> None:
        """PostgreSQL does not tell of new tables."""


def _resource(schema: str, table: str) -> Resource:
    uri = TABLE.replace("{schema}", quote(schema, safe="")).replace("{table}", quote(table, safe=""))
    return Resource(
        uri=uri, name=f"{schema}.{table}", title=f"Schema of {schema}.{table}", mime_type="application/json"
    )
