"""How often one caller may ask a server for work: middleware that refuses what comes too fast.

    Server("shop", middleware=[RateLimit(5, 20)])

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#security
"""

import math
from collections.abc import Iterable
from typing import Any

from splice import Answer, Call, RPCError
from splice.stores.base import Store
from splice.stores.memory import MemoryStore

__all__ = ["RateLimit", "TooManyRequests"]

WORK = ("tools/call", "resources/read", "prompts/get", "completion/complete")
"""The methods that run a function of the author's."""


class TooManyRequests(RPCError, code=429):
    """The caller has to wait; `data` says how many seconds. The code is HTTP's: those of JSON-RPC are reserved."""

    def __init__(self, seconds: float) -> None:
        wait = max(1, math.ceil(seconds))
        super().__init__(f"Too many requests: try again in {wait} s", {"retryAfter": wait})


class RateLimit:
    """Grants `rate` requests a second to each caller, and `burst` at once after a pause.

    A caller is whom the transport authenticated; else a session of HTTP; else all that come by the same transport: who
    cannot be told apart shares one allowance. `methods` are those that count, by default the ones that run a function
    of the author's. `shared` is a store that several processes have in common; without one, each counts by itself.
    Raises `ValueError` for a rate or burst that grants nothing.
    """

    def __init__(
        self, rate: float, burst: float, *, methods: Iterable[str] | None = None, shared: Store | None = None
    ) -> None:
        if not (0 < rate < math.inf and 1 <= burst < math.inf):
            raise ValueError(f"a rate limit needs a rate above 0 and a burst of 1 or more, not {rate!r} and {burst!r}")
        if isinstance(methods, str):
            raise TypeError(f"methods= of a rate limit takes a list of methods, such as [{methods!r}]")
        self._rate, self._burst = rate, burst
        self._methods = frozenset(WORK if methods is None else methods)
        self._store = MemoryStore() if shared is None else shared
        # Equal limits of several processes are one; different ones in the same store must not meet.
        self._name = f"limit/{rate:g}/{burst:g}/{','.join(sorted(self._methods))}"

    async def __call__(self, call: Call, proceed: Answer) -> Any:
        """Let a request pass. Raises `TooManyRequests`, and `StoreError`: what cannot be counted is not granted."""
        if call.row.name in self._methods:
            key = f"{self._name}/{_caller(call)}"
            wait = await self._store.take(key, 1, rate=self._rate, burst=self._burst)
            if wait:
                raise TooManyRequests(wait)
        return await proceed(call)


def _caller(call: Call) -> str:
    """Name the caller as closely as is known."""
    if call.sender.principal is not None:
        return f"principal:{call.sender.principal}"
    if call.session is not None and call.session.id:
        return f"session:{call.session.id}"
    return f"kind:{call.sender.kind}"
