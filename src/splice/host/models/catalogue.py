"""Which models there are, and the one that is chosen. A model is made when it is asked for: SDKs take seconds to load.

Models come from the user's settings, from providers whose key is in the environment, from packages (entry points of
the group ``splice.models``), and from programs on this computer, once the user lets the host look for them. The demo
model is always there, and chosen until the user chooses another: no key in the environment makes the host send
anything anywhere by itself.
"""

import asyncio
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice.host import items
from splice.host.board import Board
from splice.host.models import local
from splice.host.models.base import DEMO_WINDOW, Model, ModelFailed
from splice.host.models.failures import ON_THIS_COMPUTER, where_of
from splice.host.models.provided import WINDOW
from splice.host.models.replay import RecordingModel
from splice.host.text import listed, one_line
from splice.schema.schemas import cut, is_array

GROUP = "splice.models"
DEMO = "demo"
MAX_ENTRIES = 200

_FILE = re.compile(r".+\.py:[^\W\d]\w*")


class Provider(Struct, frozen=True):
    """A provider that the host knows."""

    title: str
    place: str
    """Module and class, as entry points are written."""
    variable: str
    """The environment variable that has the key."""
    base_url: str
    offered: dict[str, int]
    """Models to offer, with their windows. Others of the provider may be chosen by their names."""
    window: int = WINDOW


PROVIDERS = {
    "openai": Provider(
        "OpenAI",
        "splice.host.models.openai:OpenAIModel",
        "OPENAI_API_KEY",
        "https://api.openai.com/v1",
        {"gpt-5.5": WINDOW, "gpt-5.4-mini": WINDOW},
    ),
    "anthropic": Provider(
        "Anthropic",
        "splice.host.models.anthropic:AnthropicModel",
        "ANTHROPIC_API_KEY",
        "https://api.anthropic.com",
        {"claude-sonnet-5-5": 1_000_000, "claude-opus-5-5": 1_000_000, "claude-haiku-5-5": 1_000_000},
        200_000,
    ),
}


class Keyed(Struct, frozen=True):
    """Where a provider of models takes its key from."""

    provider: str
    title: str
    variable: str
    """The environment variable that is read."""
    is_set: bool
    where: str
    """The host that the key goes to."""
    lacks: str
    """The command that installs what is missing; empty: it is there."""


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model in the user's settings. A key is never written there, only where it is."""

    provider: str
    """``openai``, also for everything that speaks its format, or ``anthropic``."""
    model: str
    id: str = ""
    label: str = ""
    base_url: str = ""
    key_variable: str = ""
    """The environment variable that has the key; the provider's own unless there is a `base_url`."""
    key_keyring: str = ""
    """Where the keyring of the system has the key: ``SERVICE/USER``."""
    window: int = 0


class _Offer(Struct, frozen=True, kw_only=True):
    """A model that can be made."""

    item: items.Model
    place: str
    model: str = ""
    base_url: str = ""
    key_variable: str = ""
    key_keyring: str = ""


class Catalogue:
    """The models, shown on a board. `entries` is what the settings have under ``models``; a bad entry is a problem."""

    def __init__(self, board: Board, entries: Any, environment: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        """What is wrong with the settings, in sentences for people."""
        self.chosen = DEMO
        self.cassette: Path | None = None
        """Where answers of the models are recorded that are made from now on; None: nowhere."""
        self._board = board
        self._environment = environment
        self._offers: dict[str, _Offer] = {}
        self._made: dict[str, Model] = {}
        configured = list(self._configured(entries))
        for offer in (*configured, *self._from_environment(), _demo(), *_from_packages()):
            self._offers.setdefault(_key(offer), offer)
        if configured:
            self.chosen = _key(configured[0])
        self._show()

    @property
    def ids(self) -> list[str]:
        """The ids of all models that are offered."""
        return list(self._offers)

    @property
    def keys(self) -> list[Keyed]:
        """Tell where each provider takes its key from, and whether there is one. The keys themselves are not told."""
        return [
            Keyed(
                provider=name,
                title=each.title,
                variable=each.variable,
                is_set=bool(self._environment.get(each.variable, "").strip()),
                where=where_of(each.base_url),
                lacks="" if find_spec(name) else f"pip install 'splice[{name}]'",
            )
            for name, each in PROVIDERS.items()
        ]

    @property
    def made(self) -> list[Model]:
        """The models that were made so far."""
        return list(self._made.values())

    def add(self, model: Model) -> None:
        """Offer a model that a program made."""
        item = items.Model(
            id=f"model:{model.id}", label=model.label, is_ai=model.is_ai, provider=model.provider, where=model.where,
            window=model.window,
        )  # fmt: skip
        self._offers[model.id], self._made[model.id] = _Offer(item=item, place=""), self._recorded(model)
        self._show()

    def add_file(self, place: str) -> None:
        """Offer the model of a user's own file, ``FILE.py:NAME``: a class, or a function that makes it.

        Only somebody who may run programs here says that: the file is run once the model is asked.
        """
        file, _, name = place.rpartition(":")
        item = items.Model(id=f"model:{place}", label=name, provider=Path(file).name)
        self._offers[place] = _Offer(item=item, place=place)
        self._show()

    def choose(self, id: str) -> None:
        """Choose a model. Raises `ModelFailed` when there is none of this id."""
        self._offer(id)
        self.chosen = id
        self._show()

    async def find(self, ports: Sequence[int] = tuple(local.PORTS)) -> int:
        """Look for programs on this computer that serve models, and offer these. Returns how many there are."""
        found = [offer for each in await local.find(ports) for offer in _of_program(each)]
        gone = [key for key, offer in self._offers.items() if offer.item.is_found and key != self.chosen]
        for key in gone:
            del self._offers[key]
        self._offers |= {_key(offer): offer for offer in found}
        self._show()
        for key in set(gone) - set(self._offers):
            self._board.drop(f"model:{key}")
        return len(found)

    async def model(self, id: str = "") -> Model:
        """Make a model, the chosen one unless an `id` is given. Its code is loaded in a thread.

        Raises `ModelFailed` with what is missing, and what to do.
        """
        id = id or self.chosen
        if id not in self._made:
            offer = self._offer(id)
            self._made[id] = self._recorded(await asyncio.to_thread(_make, offer, self._key_in_environment(offer)))
        return self._made[id]

    def _recorded(self, model: Model) -> Model:
        return model if self.cassette is None else RecordingModel(model, self.cassette)

    def _offer(self, id: str) -> _Offer:
        if id not in self._offers:
            name, _, model = id.partition("/")
            provider = PROVIDERS.get(name)
            if provider is None or not model or not self._environment.get(provider.variable):
                told = listed(f"There is no model {one_line(cut(id, 100))!r}", self._offers)
                raise ModelFailed("wrong request", told)
            self._offers[id] = _of_provider(name, model, provider.window)
        return self._offers[id]

    def _key_in_environment(self, offer: _Offer) -> str:
        return self._environment.get(offer.key_variable, "").strip() if offer.key_variable else ""

    def _show(self) -> None:
        for key, offer in self._offers.items():
            self._board.put(replace(offer.item, is_chosen=key == self.chosen))

    def _configured(self, entries: Any) -> Iterator[_Offer]:
        if not is_array(entries):
            self.problems.append("The models in the settings are left out: they are not a list")
            return
        for number, given in enumerate(entries[:MAX_ENTRIES], 1):
            try:
                yield _of_entry(msgspec.convert(given, Entry))
            except (msgspec.ValidationError, ModelFailed) as error:
                self.problems.append(f"Model {number} in the settings is left out: {error}")

    def _from_environment(self) -> Iterator[_Offer]:
        for name, provider in PROVIDERS.items():
            if self._environment.get(provider.variable):
                yield from (_of_provider(name, model, window) for model, window in provider.offered.items())


def _key(offer: _Offer) -> str:
    return offer.item.id.removeprefix("model:")


def _of_provider(name: str, model: str, window: int) -> _Offer:
    provider = PROVIDERS[name]
    where = where_of(provider.base_url)
    item = items.Model(id=f"model:{name}/{model}", label=model, provider=name, where=where, window=window)
    return _Offer(item=item, place=provider.place, model=model, key_variable=provider.variable)


def _of_entry(entry: Entry) -> _Offer:
    provider = PROVIDERS.get(entry.provider)
    if provider is None:
        raise ModelFailed("wrong request", listed(f"there is no provider {entry.provider!r}", PROVIDERS))
    is_own = not entry.base_url
    usual = provider.offered.get(entry.model, provider.window) if is_own else WINDOW
    item = items.Model(
        id=f"model:{entry.id or f'{entry.provider}/{entry.model}'}",
        label=entry.label or entry.model,
        provider=entry.provider,
        where=where_of(entry.base_url or provider.base_url),
        window=entry.window if entry.window > 0 else usual,
    )
    return _Offer(
        item=item,
        place=provider.place,
        model=entry.model,
        base_url=entry.base_url,
        # The provider's own key is for the provider only, not for whoever is behind another address.
        key_variable=entry.key_variable or (provider.variable if is_own and not entry.key_keyring else ""),
        key_keyring=entry.key_keyring,
    )


def _of_program(found: local.Found) -> Iterator[_Offer]:
    for model, window in found.models.items():
        item = items.Model(
            id=f"model:local/{found.port}/{model}",
            label=f"{model} ({found.program}?)",  # anything may listen there
            provider="local",
            where=ON_THIS_COMPUTER,
            window=window,
            is_found=True,
        )
        yield _Offer(item=item, place=PROVIDERS["openai"].place, model=model, base_url=found.base_url)


def _demo() -> _Offer:
    item = items.Model(
        id=f"model:{DEMO}",
        label="Demo model (no AI)",
        is_ai=False,
        provider=DEMO,
        where=ON_THIS_COMPUTER,
        window=DEMO_WINDOW,
    )
    return _Offer(item=item, place="splice.host.models.demo:DemoModel")


def _from_packages() -> Iterator[_Offer]:
    """Offer what packages bring. An entry point is a class or function that makes the model; it is loaded when used."""
    for point in sorted(entry_points(group=GROUP)):
        package = point.dist.name if point.dist is not None else ""
        yield _Offer(item=items.Model(id=f"model:{point.name}", label=point.name, provider=package), place=point.value)


def _make(offer: _Offer, key: str) -> Model:
    module, _, name = offer.place.rpartition(":")
    try:
        maker: Any = getattr(_of_file(module) if is_file(offer.place) else importlib.import_module(module), name)
        key = key or _from_keyring(offer.key_keyring)
    except ImportError as error:
        missing = one_line(error.name or str(error))
        extra = missing if missing in ("openai", "anthropic", "keyring") else ""
        remedy = f"pip install 'splice[{extra}]'" if extra else f"pip install {missing.partition('.')[0]}"
        raise ModelFailed("wrong request", f"{offer.item.label} needs the package {missing}: {remedy}") from error
    except AttributeError as error:
        raise ModelFailed("wrong request", f"{offer.item.label}: {one_line(offer.place)} does not exist.") from error
    if not offer.model:
        return _checked(_called(maker, offer), offer)
    if not key and (offer.key_variable or offer.key_keyring):
        missing = offer.key_variable or f"{offer.key_keyring} in the keyring"
        raise ModelFailed("login", f"{offer.item.label} needs a key: {one_line(missing)} has none.")
    item = offer.item
    made: Any = maker(offer.model, key, id=_key(offer), base_url=offer.base_url, label=item.label, window=item.window)
    made.provider = item.provider
    return _checked(made, offer)


def is_file(place: str) -> bool:
    """Tell whether a model is named by its file: ``FILE.py:NAME``."""
    return bool(_FILE.fullmatch(place))


def _of_file(file: str) -> ModuleType:
    """Run a file that has a model. Raises `ModelFailed`."""
    path = Path(file).absolute()
    spec = spec_from_file_location(f"splice_model_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModelFailed("wrong request", f"There is no file {one_line(file)}.")
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:
        raise
    except Exception as error:
        told = f"{one_line(file)} cannot be run: {type(error).__name__}: {one_line(cut(str(error), 300))}"
        raise ModelFailed("wrong request", told) from error
    return module


def _checked(made: Any, offer: _Offer) -> Model:
    lacks = [name for name in ("stream", "is_ai", "where", "window", "label") if not hasattr(made, name)]
    if lacks:
        raise ModelFailed("wrong request", f"{offer.item.label} is not a model: it has no {', '.join(lacks)}.")
    model: Model = made
    return model


def _called(maker: Any, offer: _Offer) -> Any:
    """Make a model. Raises `ModelFailed` if the user's own code fails."""
    try:
        return maker()
    except ModelFailed:
        raise
    except Exception as error:
        told = f"{offer.item.label} cannot be made: {type(error).__name__}: {one_line(cut(str(error), 300))}"
        raise ModelFailed("wrong request", told) from error


def _from_keyring(place: str) -> str:
    """Get a key from the keyring of the system. Raises `ImportError` without the package, and `ModelFailed`."""
    if not place:
        return ""
    keyring: Any = importlib.import_module("keyring")
    service, _, user = place.partition("/")
    try:
        return str(keyring.get_password(service, user) or "").strip()
    except keyring.errors.KeyringError as error:
        told = f"The keyring of the system failed: {one_line(cut(str(error), 200))}. Use a key_variable instead."
        raise ModelFailed("login", told) from None
