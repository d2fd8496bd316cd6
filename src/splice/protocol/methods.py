"""The rows that describe requests and notifications: `Method` and `Note`.

A row knows in which versions it exists, the types of its params and result, and what HTTP must know of it. The rows
stand beside their types, a file per chapter. Which rows a server or a client answers is its own table, put together
from chapters and extensions (see `splice.rules.extensions`): no list of all methods exists.

The methods a server sends exist until 2025-11-25; since then they are asked for in an `InputRequiredResult`,
which uses the same params and results.

https://modelcontextprotocol.io/specification/2026-07-28/basic
"""

from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Raw, Struct

from splice.errors import InvalidParams, RemoteProtocolError
from splice.protocol import jsonrpc, lenient
from splice.protocol.versions import VERSIONS, Since, Until, covers

P = TypeVar("P", bound=Struct)
R = TypeVar("R", bound=Struct)

_EMPTY = Raw(b"{}")


class Note(Struct, Generic[P], frozen=True, dict=True, kw_only=True, eq=False):
    """One notification."""

    name: str
    """Its `method` on the wire."""

    params: type[P]
    """The Struct of its params."""

    since: str | None = None
    """The first version that has it, where its params do not say so themselves."""

    until: str | None = None
    """The last version that has it, likewise."""

    @cached_property
    def versions(self) -> frozenset[str]:
        """The versions that have it."""
        marks = Since(self.since or VERSIONS[0]), Until(self.until or VERSIONS[-1]), *getattr(self.params, "span", ())
        return frozenset(version for version in VERSIONS if covers(marks, version))

    def exists(self, version: str) -> bool:
        """Tell whether `version` has it."""
        return version in self.versions

    @cached_property
    def _params_decoder(self) -> msgspec.json.Decoder[P]:
        return msgspec.json.Decoder(self.params)

    def read_params(self, params: Raw | None, where: str = "$") -> P:
        """Decode params that arrived. Raises `InvalidParams`."""
        given = _EMPTY if params is None else params
        try:
            return self._params_decoder.decode(given)
        except jsonrpc.UNREADABLE:
            try:
                return lenient.read(given, self.params, where=where)
            except jsonrpc.UNREADABLE as error:
                raise InvalidParams(f"Invalid params: {error}") from None


class Method(Note[P], Generic[P, R], frozen=True, dict=True, kw_only=True, eq=False):
    """One request."""

    result: type[R]
    """The Struct of its complete result."""

    may_ask: bool = False
    """Its result may be an `InputRequiredResult`."""

    named_by: Literal["name", "uri"] | None = None
    """The field of its params that the `Mcp-Name` header repeats."""

    def name_in(self, params: Any) -> str | None:
        """Give what the `Mcp-Name` header repeats of params, if anything."""
        return None if self.named_by is None else getattr(params, self.named_by)

    @cached_property
    def _result_decoder(self) -> msgspec.json.Decoder[R]:
        return msgspec.json.Decoder(self.result)

    def read_result(self, result: Raw, remark: jsonrpc.Remark | None = None) -> R:
        """Decode a complete result that arrived. With `remark`, which is told of it, one that does not fit is mended.

        Raises `RemoteProtocolError`.
        """
        try:
            if remark is not None:
                return lenient.read(result, self.result, remark)
            return self._result_decoder.decode(result)
        except jsonrpc.UNREADABLE as error:
            raise RemoteProtocolError(f"The result of {self.name} is malformed: {error}") from error


Row: TypeAlias = Method[Any, Any]
"""Any request."""
