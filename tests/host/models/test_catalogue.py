"""Models are offered from all sides, shown on the board, and made when they are asked for."""

import asyncio
import json
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

from splice.host import items
from splice.host.board import Board
from splice.host.models import catalogue, local
from splice.host.models.base import ModelFailed
from splice.host.models.catalogue import Catalogue
from splice.host.models.script import ScriptModel
from support.model_server import KEY

WORK = {
    "provider": "openai",
    "model": "big",
    "id": "work",
    "label": "Ours",
    "base_url": "https://models.example.com/v1",
    "key_variable": "WORK_KEY",
    "window": 9_000,
}


@pytest.fixture(autouse=True)
def without_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the SDKs, which take seconds to load: here no model is asked anything."""
    sdk = SimpleNamespace(OpenAIError=Exception, AsyncOpenAI=object, AnthropicError=Exception, AsyncAnthropic=object)
    for name in ("openai", "anthropic"):
        monkeypatch.setitem(sys.modules, name, sdk)
    for name in ("openai", "anthropic", "bounds"):
        monkeypatch.setitem(sys.modules, f"splice.host.models.{name}", None)
        monkeypatch.setattr(f"splice.host.models.{name}", None, raising=False)
        del sys.modules[f"splice.host.models.{name}"]  # and it is gone again after the test
    monkeypatch.setitem(
        sys.modules, "httpx2", SimpleNamespace(HTTPError=Exception, AsyncByteStream=object, Response=object)
    )


def make(given: Catalogue, id: str = "") -> Any:
    return asyncio.run(given.model(id))


def failure(given: Catalogue, id: str) -> str:
    with pytest.raises(ModelFailed) as caught:
        make(given, id)
    return caught.value.message


def test_keys_in_the_environment_offer_models_and_choose_none() -> None:
    board = Board()
    given = Catalogue(board, [], {"ANTHROPIC_API_KEY": KEY})
    assert given.chosen == "demo"
    assert [model.id for model in board.all(items.Model) if model.is_chosen] == ["model:demo"]
    assert {model.provider for model in board.all(items.Model)} == {"anthropic", "demo"}
    given.choose("anthropic/claude-of-tomorrow")
    chosen = board.get("model:anthropic/claude-of-tomorrow", items.Model)
    assert chosen is not None
    assert (chosen.is_chosen, chosen.where, chosen.window) == (True, "api.anthropic.com", 200_000)
    assert (make(given).model, make(given).key) == ("claude-of-tomorrow", KEY)
    assert make(given) is make(given)
    with pytest.raises(ModelFailed, match="There is no model 'openai/x'; there are anthropic/"):
        given.choose("openai/x")
    assert KEY not in repr(board.since())


def test_the_settings_come_first_and_bad_ones_are_told() -> None:
    board = Board()
    bad: list[Any] = [
        {"provider": "other", "model": "x"},
        {"provider": "openai", "model": "x", "key": KEY},
        {"provider": "openai", "model": "x", "base_url": "ftp://x"},
        7,
    ]
    given = Catalogue(board, [*bad, WORK, WORK | {"id": "free", "key_variable": ""}], {"OPENAI_API_KEY": KEY})
    assert given.chosen == "work"
    assert Catalogue(Board(), "typo", {}).problems == ["The models in the settings are left out: they are not a list"]
    assert [problem.split(":")[0] for problem in given.problems] == [
        f"Model {number} in the settings is left out" for number in (1, 2, 3, 4)
    ]
    assert "unknown field `key`" in given.problems[1]
    shown = board.get("model:work", items.Model)
    assert shown is not None
    assert (shown.label, shown.where, shown.window) == ("Ours", "models.example.com", 9_000)
    assert failure(given, "work") == "Ours needs a key: WORK_KEY has none."
    assert make(given, "free").key == "", "OpenAI's key goes to OpenAI only"


def test_a_key_may_be_in_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    class KeyringError(Exception): ...

    def get_password(service: str, user: str) -> str | None:
        if user == "locked":
            raise KeyringError("it is locked")
        return {("models", "me"): f" {KEY}\n"}.get((service, user))

    keyring = SimpleNamespace(get_password=get_password, errors=SimpleNamespace(KeyringError=KeyringError))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    entries = [
        WORK | {"key_variable": "", "id": user, "key_keyring": f"models/{user}"} for user in ("me", "you", "locked")
    ]
    given = Catalogue(Board(), entries, {})
    assert make(given, "me").key == KEY
    assert failure(given, "you") == "Ours needs a key: models/you in the keyring has none."
    assert "it is locked" in failure(given, "locked")


def test_what_is_not_installed_is_told_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("elsewhere", "no_such_package.models:Model", catalogue.GROUP),
        EntryPoint("odd", "builtins:object", catalogue.GROUP),
        EntryPoint("gone", "builtins:nothing", catalogue.GROUP),
        EntryPoint("mine", "support.models_of_others:Mine", catalogue.GROUP),
    ]
    monkeypatch.setattr(catalogue, "entry_points", lambda **_: points)
    monkeypatch.setitem(sys.modules, "support.models_of_others", SimpleNamespace(Mine=lambda: ScriptModel([])))
    given = Catalogue(Board(), [], {"OPENAI_API_KEY": KEY})
    assert failure(given, "elsewhere") == "elsewhere needs the package no_such_package: pip install no_such_package"
    assert failure(given, "odd").startswith("odd is not a model: it has no stream")
    assert failure(given, "gone") == "gone: builtins:nothing does not exist."
    assert isinstance(make(given, "mine"), ScriptModel)
    monkeypatch.setitem(sys.modules, "openai", None)
    assert failure(given, "openai/gpt-5.5") == "gpt-5.5 needs the package openai: pip install 'splice[openai]'"


def test_programs_on_this_computer_are_offered_and_not_chosen() -> None:
    async def main() -> None:
        body = json.dumps({"data": [{"id": "small"}]})

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.0 200 OK\r\n\r\n{body}".encode())
            writer.close()

        board = Board()
        given = Catalogue(board, [], {})
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        assert await given.find([port]) == 1
        id = f"local/{port}/small"
        shown = board.get(f"model:{id}", items.Model)
        assert shown is not None
        assert (shown.is_found, shown.is_chosen, shown.where) == (True, False, "on this computer")
        made: Any = await given.model(id)
        assert (made.id, made.model, made.key, made.provider) == (id, "small", "", "local")
        assert made.url == local.Found(port, "", {}).base_url
        server.close()
        assert await given.find([port]) == 0
        assert board.get(f"model:{id}", items.Model) is None

    asyncio.run(main())


def test_the_demo_model_is_listed_as_it_is() -> None:
    board = Board()
    made = make(Catalogue(board, [], {}), "demo")
    shown = board.get("model:demo", items.Model)
    assert shown is not None
    for name in ("window", "is_ai", "provider", "where"):
        assert getattr(shown, name) == getattr(made, name), name
