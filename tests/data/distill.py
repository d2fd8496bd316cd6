"""Distils the official schemas of all protocol versions into `facts.json`: what exists when.

    python tests/data/distill.py FOLDER > tests/data/facts.json

FOLDER holds one folder per version with its `schema.json`, as the specification's repository does. What comes out
are facts only: for each field of each type one character per version, oldest first: `!` required, `?` optional,
`-` absent. The params of a method stand under the method's name. An object within a type is a type of its own,
named by its path. `values` has the words that a type or a field may say, `methods` who may send what.
"""

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
UNIONS = {
    "requests of clients": "ClientRequest",
    "requests of servers": "ServerRequest",
    "notifications of clients": "ClientNotification",
    "notifications of servers": "ServerNotification",
}

Schema: TypeAlias = dict[str, Any]
Table: TypeAlias = dict[str, dict[str, str]]


class Distiller:
    """Takes the schemas in, one version after the other."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {"types": {}, "params": {}, "values": {}, "methods": {}}
        self._place = 0
        self._types: dict[str, Schema] = {}

    def read(self, place: int, schema: Schema) -> None:
        """Add what the version at `place` says."""
        self._place = place
        self._types = schema.get("$defs") or schema["definitions"]
        for name, kind in self._types.items():
            properties = kind.get("properties", {})
            if method := properties.get("method", {}).get("const"):
                self._fields("params", method, properties.get("params", {}))
            elif not ({"method", "jsonrpc"} & properties.keys() or name.endswith("Params") or "anyOf" in kind):
                self._fields("types", name, kind)
        for title, union in UNIONS.items():
            kind = self._types.get(union, {"anyOf": []})
            for member in kind.get("anyOf", [kind]):
                self._note("methods", title, self._resolved(member)["properties"]["method"]["const"], "!")

    def _fields(self, table: str, name: str, kind: Schema) -> None:
        kind = self._merged(kind)
        for word in words(kind):
            self._note("values", name, word, "!")
        for field, inner in kind.get("properties", {}).items():
            self._note(table, name, field, "!" if field in kind.get("required", []) else "?")
            if {"properties", "enum", "const"} & inner.keys():
                self._fields(table, f"{name}.{field}", inner)

    def _note(self, table: str, name: str, field: str, mark: str) -> None:
        row = self.tables[table].setdefault(name, {})
        old = row.get(field, "-" * len(VERSIONS))
        row[field] = old[: self._place] + mark + old[self._place + 1 :]

    def _resolved(self, kind: Schema) -> Schema:
        while "$ref" in kind:
            kind = self._types[kind["$ref"].rsplit("/", 1)[-1]]
        return kind

    def _merged(self, kind: Schema) -> Schema:
        """Make one object of several: alternatives require what all of them do, parts what any of them does."""
        kind = self._resolved(kind)
        join = set.intersection if "anyOf" in kind else set.union
        members = [self._merged(member) for member in kind.get("anyOf") or kind.get("allOf") or []]
        if not members:
            return kind
        required = join(*(set(member.get("required", [])) for member in members))
        properties: Schema = {}
        for name, inner in (item for member in members for item in member.get("properties", {}).items()):
            said = words(properties.get(name, {})) + words(inner)
            properties[name] = {"enum": said} if said else inner
        return {"properties": properties, "required": required}


def words(kind: Schema) -> list[str]:
    """List what a field may say."""
    said: list[str] = kind.get("enum", [kind["const"]] if "const" in kind else [])
    return said


def distil(folder: Path) -> dict[str, Table]:
    """Read the schemas of all versions below `folder`."""
    distiller = Distiller()
    for place, version in enumerate(VERSIONS):
        distiller.read(place, json.loads((folder / version / "schema.json").read_text("utf-8")))
    return distiller.tables


def written(tables: dict[str, Table]) -> str:
    """Write the facts as JSON, one type a line."""
    blocks: list[str] = []
    for title, table in tables.items():
        rows = [f"  {json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(table.items())]
        blocks.append(f"{json.dumps(title)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    sys.stdout.write(written(distil(Path(sys.argv[1]))))
