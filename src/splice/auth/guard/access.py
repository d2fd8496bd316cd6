"""Who may use which tool, resource or prompt: `scopes=` and `visible=` of a feature, as middleware around everything.

What is not visible to somebody does not exist for them. What takes scopes that they lack is in no list; who calls it
all the same is told which scopes to ask for. Who calls over stdio, or in the same process, is the user of this machine:
everything is theirs. What a handler uses by itself is its own business.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#runtime-insufficient-scope-errors
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from msgspec import Raw
from msgspec.structs import replace

from splice.auth.guard.challenges import Forbidden
from splice.errors import InvalidParams, ResourceNotFound
from splice.protocol import completion, wire

_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")

Answer: TypeAlias = Callable[[Any], Awaitable[Any]]

_LIMITS = {"scopes", "visible"}

_LISTS = {
    "tools/list": ("tools", "tools", "tools"),
    "prompts/list": ("prompts", "prompts", "prompts"),
    "resources/list": ("resources", "resources", "resources"),
    "resources/templates/list": ("resources", "templates", "resource_templates"),
}
"""Method -> the chapter, its list, and the field of the result."""


def limited(options: Mapping[str, Any]) -> Callable[[Any, Answer], Awaitable[Any]]:
    """Check who may use a feature, and give the middleware that sees to it. Raises `TypeError` and `ValueError`."""
    scopes: Any = options.get("scopes", ())
    if not isinstance(scopes, (list, tuple, set, frozenset)) or not all(map(is_scope, cast("Iterable[Any]", scopes))):
        raise TypeError(f"scopes= takes a list of scopes such as ['read'], without blanks and quotes, not {scopes!r}")
    visible = options.get("visible", bool)
    if not callable(visible) or inspect.iscoroutinefunction(visible):
        raise TypeError(f"visible= takes a plain function of the principal, not {visible!r}")
    return check


def scopes_of(service: Any, first: Iterable[str]) -> list[str]:
    """List `first`, then what the server's own features take. Sources are not asked: anybody may read this list."""
    chapters = getattr(getattr(service, "home", None), "chapters", ())
    listings = [listing for each in chapters for listing in getattr(each, "lists", {}).values()]
    entries = [entry for listing in listings for entry in list(listing.local.by_key.values())]
    return list(
        dict.fromkeys((*first, *(name for each in entries for name in sorted(_options(each).get("scopes", ())))))
    )


def is_scope(text: Any) -> bool:
    """Tell whether something is a scope (RFC 6749 section 3.3)."""
    return isinstance(text, str) and _SCOPE.fullmatch(text) is not None


async def check(call: Any, proceed: Answer) -> Any:
    """Answer a request as far as its sender may ask for it. Raises `Forbidden`, and what stands for unknown names."""
    if call.sender.kind != "http" and call.sender.principal is None:
        return await proceed(call)
    method = call.row.name
    if method in _LISTS:
        return await _listed(call, proceed)
    check = _CHECKS.get(method)
    if check is not None and not await check(call):
        return wire.EmptyResult()
    result = await proceed(call)
    shared = method == "resources/read" and getattr(result, "cache_scope", None) == "public"
    if shared and await _is_bound(call):
        result.cache_scope = "private"  # whatever was said of all resources: a shared cache does not ask who reads
    return result


def _options(entry: Any) -> Mapping[str, Any]:
    return getattr(getattr(entry, "handler", None), "options", {})


def _lacking(call: Any, entry: Any) -> set[str]:
    principal = call.sender.principal
    return {*_options(entry).get("scopes", ())} - (principal.scopes if principal else set())


def _sees(call: Any, entry: Any) -> bool:
    """Tell whether something exists for the sender. Without a principal nothing does that asks for one.

    Raises `TypeError` when `visible` returns what has to be awaited: that would be true for everybody.
    """
    visible = _options(entry).get("visible")
    if visible is None or call.sender.principal is None:
        return visible is None
    seen = visible(call.sender.principal)
    if inspect.isawaitable(seen):
        getattr(seen, "close", bool)()
        raise TypeError(f"visible= takes a plain function of the principal, and {visible!r} returned a coroutine")
    return bool(seen)


def _need(call: Any, entry: Any) -> None:
    """Raise `Forbidden` unless the sender has the scopes."""
    if _lacking(call, entry):
        scopes = _options(entry)["scopes"]
        raise Forbidden(f"This takes the scopes {' '.join(sorted(scopes))}, and the token lacks some", scopes)


def _chapter(call: Any, id: str) -> Any:
    return next(each for each in call.home.chapters if each.id == id)


async def _listed(call: Any, proceed: Answer) -> Any:
    """Take out of a list what its reader may not use. What is left is for that reader only."""
    id, kind, field = _LISTS[call.row.name]
    listing = _chapter(call, id).lists[kind]
    entries = dict[str, Any]()
    for source in listing.sources:
        for each in await source.entries():
            entries.setdefault(_key(each.definition), each)
    bound = {key: each for key, each in entries.items() if _options(each).keys() & _LIMITS}
    result = await proceed(call)
    if not bound:
        return result
    hidden = {key for key, each in bound.items() if not _sees(call, each) or _lacking(call, each)}
    page = call.row.read_result(result) if isinstance(result, Raw) else result
    kept = [each for each in getattr(page, field) if _key(each) not in hidden]
    return replace(page, cache_scope="private", **{field: kept})


def _key(definition: Any) -> str:
    return str(getattr(definition, "uri", None) or getattr(definition, "uri_template", None) or definition.name)


async def _named(id: str, call: Any) -> bool:
    """Find a tool or prompt by its name. Raises `InvalidParams` as for any name that is unknown, and `Forbidden`."""
    entry = await _chapter(call, id).lists[id].named(call.params.name, partial(_sees, call))
    _need(call, entry)
    return True


async def _read(call: Any) -> bool:
    uri = call.params.uri
    entry = await _chapter(call, "resources").find(uri)
    if entry is not None and not _sees(call, entry):
        raise ResourceNotFound(f"Resource not found: {uri:.200}", {"uri": uri})
    _need(call, entry)
    return True


async def _is_bound(call: Any) -> bool:
    entry = await _chapter(call, "resources").find(call.params.uri)
    return bool(_options(entry).keys() & _LIMITS)


async def _subscribed(call: Any) -> bool:
    """Take a subscription to what is not visible as one to what does not exist: nothing will ever be told."""
    entry = await _chapter(call, "resources").find(call.params.uri)
    if entry is not None and not _sees(call, entry):
        return False
    _need(call, entry)
    return True


async def _listening(call: Any) -> bool:
    """Leave out of the filter of a stream what its reader may not read."""
    wanted = call.params.notifications
    resources, kept = _chapter(call, "resources"), list[str]()
    for uri in wanted.resource_subscriptions or ():
        entry = await resources.find(uri)
        if entry is None or (_sees(call, entry) and not _lacking(call, entry)):
            kept.append(uri)
    if wanted.resource_subscriptions is not None:
        call.params = replace(call.params, notifications=replace(wanted, resource_subscriptions=kept))
    return True


async def _completed(call: Any) -> bool:
    ref = call.params.ref
    if isinstance(ref, completion.PromptReference):
        target, entry = ref.name, await _chapter(call, "prompts").lists["prompts"].find(ref.name)
    else:
        resources, target = _chapter(call, "resources"), ref.uri
        entry = resources.lists["templates"].local.get(target) or await resources.find(target)
    if entry is not None and not _sees(call, entry):
        raise InvalidParams(f"There is no prompt or resource template {target!r:.200} here")
    _need(call, entry)
    return True


_CHECKS: dict[str, Callable[[Any], Awaitable[bool]]] = {
    "tools/call": lambda call: _named("tools", call),
    "prompts/get": lambda call: _named("prompts", call),
    "resources/read": _read,
    "resources/subscribe": _subscribed,
    "subscriptions/listen": _listening,
    "completion/complete": _completed,
}
"""Method -> what tells whether it is to be answered at all."""
