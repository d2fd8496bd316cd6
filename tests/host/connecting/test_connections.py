"""Connections: lazy, trusted first, remembered, and honest about what failed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from auth.login.scripted import Browser, scripted
from client.scripted import CAPABILITIES, Listenable, forever, raising, returning, until
from splice import Client, ConnectionClosed, Context, InternalError, Server
from splice.host import items
from splice.host.board import Board
from splice.host.config.entries import Entry
from splice.host.config.reading import entry_of
from splice.host.connecting.connections import Connection, Connections, Unavailable
from splice.host.connecting.manifest import Manifest
from splice.host.places import Places
from splice.types import CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root, TextContent
from support.listening import listening
from support.waiting import settle
from support.warm import warm_python

MORTAL = Path(__file__).parents[2] / "support" / "mortal_server.py"
TALKER = """
import os, sys
print("key", os.environ["API_KEY"], "strange" in os.environ, "PATH" in os.environ, file=sys.stderr, flush=True)
sys.exit(3)
"""


class Recorder:
    """Hooks that remember what they were told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.trust = asyncio.Future[bool]()
        self.trust.set_result(True)

    async def trusts(self, entry: Entry) -> bool:
        self.told.append(("trusts", entry.runs))
        return await self.trust

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        self.told.append(("elicit", server, params.message))
        return ElicitResult(action="decline")

    async def sample(self, server: str, params: CreateMessageParams) -> CreateMessageResult | None:
        self.told.append(("sample", server, params.max_tokens))
        return CreateMessageResult(role="assistant", content=TextContent(text="said"), model="m", stop_reason="endTurn")

    async def roots(self, server: str) -> list[Root]:
        return [Root(uri=f"file:///for/{server}")]

    async def prepare(self, server: str, manifest: Manifest) -> None:
        pass

    def heard(self, server: str, manifest: Manifest) -> None:
        self.told.append(("heard", server, [tool.name for tool in manifest.tools]))

    def updated(self, server: str, uri: str) -> None:
        self.told.append(("updated", server, uri))

    def record(self, kind: str, server: str, **facts: Any) -> None:
        self.told.append((kind, server, *facts))

    def of(self, kind: str) -> list[Any]:
        return [each for each in self.told if each[0] == kind]


class Hosted:
    """A host of connections only."""

    def __init__(self, home: Path) -> None:
        self.board, self.hooks = Board(), Recorder()
        self.all = Connections(self.board, self.hooks, Places.under(home))

    def add(self, name: str, raw: dict[str, Any], target: Any = None, **facts: Any) -> Connection:
        return self.all.add(entry_of(name, raw, **facts), target=target)

    def shown(self, name: str) -> items.Server:
        found = self.board.get(f"server:{name}", items.Server)
        assert found is not None
        return found


@asynccontextmanager
async def hosted(home: Path) -> AsyncIterator[Hosted]:
    made = Hosted(home)
    try:
        yield made
    finally:
        await made.all.close()


def program(*words: str, **more: Any) -> dict[str, Any]:
    return {"command": warm_python(), "args": list(words), **more}


def lettered(name: str = "letters") -> Server:
    server = Server(name)

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    return server


async def test_nothing_runs_before_it_is_needed_and_a_crash_is_told_and_mended(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        mortal = host.add("mortal", program(str(MORTAL)))
        assert (host.shown("mortal").state, host.hooks.told) == ("asleep", [])
        client, again = await asyncio.gather(mortal.client(), mortal.client())
        assert client is again
        shown = host.shown("mortal")
        assert (shown.state, shown.tools, shown.templates, shown.is_remembered) == ("ready", 3, 1, False)
        assert shown.title.startswith("mortal ")
        assert "tools.listChanged" in shown.capabilities
        await mortal.subscriptions.add(client, "x://a")
        with pytest.raises(ConnectionClosed, match="mortal exited with code 7"):
            await client.call_tool("die")
        await until(lambda: host.shown("mortal").state == "crashed")
        assert host.shown("mortal").last_words == ["last words"]
        assert host.shown("mortal").word == "mortal exited with code 7. It is started again when it is needed"
        assert host.hooks.of("updated") == []
        again = await mortal.client()
        assert host.hooks.of("updated") == [("updated", "mortal", "x://a")]  # it may have changed meanwhile
        await again.call_tool("touch")
        await until(lambda: len(host.hooks.of("updated")) > 1)
        await mortal.subscriptions.remove(again, "x://a")
        await mortal.subscriptions.remove(None, "x://a")
        host.hooks.told = [each for each in host.hooks.told if each[0] != "updated"]
        assert (host.shown("mortal").state, host.shown("mortal").last_words) == ("ready", [])
        process = int((await (await mortal.client()).call_tool("who")).content[0].text)  # type: ignore[union-attr]
        os.kill(process, signal.SIGKILL)  # while nobody uses it
        await until(lambda: host.shown("mortal").state == "crashed")
        assert [each[0] for each in host.hooks.told] == ["heard", "start", "crash", "heard", "start", "crash"]
    assert host.shown("mortal").state == "asleep"

    async with hosted(tmp_path) as later:  # another run of the host: what is offered is known before anything runs
        later.add("mortal", program(str(MORTAL)))
        assert later.hooks.told == [("heard", "mortal", ["who", "die", "touch"])]
        assert (later.shown("mortal").state, later.shown("mortal").is_remembered) == ("asleep", True)
        assert later.shown("mortal").tools == 3
        later.add("other", program(str(MORTAL), "--other"))
        assert later.shown("other").tools == 0


async def test_a_program_sees_little_and_its_secrets_are_blotted_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("strange", "1")
    monkeypatch.setenv("SESAME", "sesame-open")
    async with hosted(tmp_path) as host:
        talker = host.add("talker", program("-c", TALKER, env={"API_KEY": "${SESAME}"}))
        with pytest.raises(Unavailable, match=r"talker: .*exited with code 3"):
            await talker.client()
        assert host.shown("talker").state == "failed"
        assert set(host.shown("talker").last_words) == {"key *** False True"}
        assert "sesame-open" not in repr([host.board.since(), talker.output.lines()])


async def test_one_that_fails_hides_no_other_and_is_not_tried_for_ever(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        good = host.add("good", {"command": "-"}, lettered())
        gone = host.add("gone", {"command": "no-such-program"})
        host.add("unset", {"command": "x", "args": ["${NOT_SET_HERE}"]})
        host.add("odd", {"command": 5})
        off = host.add("off", {"command": "x", "disabled": True})
        assert [host.shown(each.entry.name).state for each in host.all] == [
            "asleep",
            "asleep",
            "asleep",
            "failed",
            "off",
        ]
        for name, message in (
            ("gone", "gone: Cannot start 'no-such-program'"),
            ("unset", "unset: the variable NOT_SET_HERE is not set"),
            ("odd", "odd: `command`: 5 should be text"),
            ("off", "off is switched off"),
            ("none", "there is no server 'none'; there are good, gone, unset, odd, off"),
        ):
            with pytest.raises(Unavailable, match=message):
                await host.all[name].client()
        assert (await (await good.client()).call_tool("add", {"a": 1, "b": 2})).structured_content == 3
        for _ in range(4):
            with pytest.raises(Unavailable, match="Cannot start"):
                await gone.client()
        with pytest.raises(Unavailable, match="it failed 5 times within a minute; restart it to try again"):
            await gone.client()
        with pytest.raises(Unavailable, match="Cannot start"):
            await gone.restart()
        off.switch(on=True)
        assert host.shown("off").state == "asleep"
        good.switch(on=False)
        await until(lambda: good.running is None)
        assert (host.shown("good").state, host.shown("good").word) == ("off", "you switched it off")


async def test_a_projects_command_is_started_once_it_is_trusted_and_not_before(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        raw = {"command": "no-such-program", "args": ["a b"]}
        strange = host.add("strange", raw, scope="project", folder=tmp_path)
        host.hooks.trust = asyncio.Future()
        waiting = asyncio.create_task(strange.client())
        await until(lambda: host.hooks.told)
        assert host.hooks.told == [("trusts", "no-such-program 'a b'")]
        assert (host.shown("strange").state, host.shown("strange").word) == (
            "untrusted",
            "waits for you to trust its command",
        )
        host.hooks.trust.set_result(False)
        with pytest.raises(Unavailable, match="you do not trust its command, so it is not started"):
            await waiting
        assert host.shown("strange").state == "untrusted"
        host.hooks.trust = asyncio.Future()
        waiting = asyncio.create_task(strange.client())
        await until(lambda: len(host.hooks.of("trusts")) == 2)
        waiting.cancel()  # whoever needed it is gone: the question goes too
        await until(host.hooks.trust.cancelled)
        host.hooks.trust = asyncio.Future()
        host.hooks.trust.set_result(True)
        with pytest.raises(Unavailable, match="Cannot start 'no-such-program'"):
            await strange.client()


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_lists_that_change_in_mid_turn_are_asked_for_again_once(tmp_path: Path, protocol: str) -> None:
    server = lettered()

    @server.tool
    async def grow(ctx: Context) -> str:
        for number in range(20):
            server.add_tool(lambda: "x", name=f"new{number}")
        await ctx.notify_resource_updated("x://a")
        return "done"

    @server.resource("x://a")
    def thing() -> str:
        return "x"

    async with hosted(tmp_path) as host:
        growing = host.add("growing", {"command": "-", "x-splice": {"protocol": protocol}}, server)
        client = await growing.client()
        await client.subscribe("x://a")
        await client.call_tool("grow")
        await until(lambda: len(host.hooks.of("heard")) == 2)
        assert len(host.hooks.of("heard")[1][2]) == 22
        assert host.shown("growing").tools == 22
        assert growing.manifest is not None
        assert len(growing.manifest.tools) == 22
        await until(lambda: host.hooks.of("updated"))
        assert host.hooks.of("updated")[0] == ("updated", "growing", "x://a")
        assert len(host.hooks.of("heard")) == 2


async def test_a_server_is_not_asked_for_what_it_does_not_advertise(tmp_path: Path) -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    modest = Listenable()
    modest.capabilities = {"tools": {}}
    modest.methods["tools/list"] = returning({"resultType": "complete", "tools": [tool]})
    boasting = Listenable()
    boasting.capabilities = CAPABILITIES
    boasting.methods["tools/list"] = returning({"resultType": "complete", "tools": [tool]})
    boasting.methods["prompts/list"] = raising(InternalError("broken"))
    async with hosted(tmp_path) as host:
        await host.add("modest", {"command": "-"}, modest).client()
        assert {each["method"] for each in modest.sent} == {"server/discover", "tools/list"}
        broken = host.add("boasting", {"command": "-"}, boasting)
        await broken.client()  # it advertises lists that it does not have
        assert host.shown("boasting").state == "ready"
        assert host.shown("boasting").tools == 1
        assert [line.text for line in broken.output.lines()] == ["Its list of prompts failed: broken"]


async def test_a_server_that_leaves_or_stalls_while_it_tells_what_it_offers(tmp_path: Path) -> None:
    leaving, stalling, fussy = Listenable(), Listenable(), Listenable()
    leaving.methods["tools/list"] = raising(ConnectionClosed("it left"))
    stalling.methods["tools/list"] = forever
    fussy.methods["tools/list"] = returning({"resultType": "complete", "tools": []})

    async def leave(message: Any, link: Any) -> Any:
        link.on_gone(ConnectionClosed("gone by itself"))
        await until(lambda: host.shown("early").state == "crashed")
        raise ConnectionClosed("the call failed")

    async with hosted(tmp_path) as host:
        with pytest.raises(Unavailable, match="leaving: it left"):
            await host.add("leaving", {"command": "-"}, leaving).client()
        stuck = host.add("stalling", {"command": "-", "x-splice": {"timeout": 0.05}}, stalling)
        await stuck.client()  # a list that does not come counts as a list that failed
        assert "Its list of tools failed" in stuck.output.lines()[0].text
        early, hasty = Listenable(), Listenable()
        early.methods["tools/list"] = leave
        with pytest.raises(Unavailable, match="early: gone by itself"):
            await host.add("early", {"command": "-"}, early).client()
        assert [each[:2] for each in host.hooks.told if each[1] == "early"] == [("crash", "early")]
        loud = host.add("fussy", {"command": "-", "x-splice": {"logLevel": "debug"}}, fussy)
        first, second = await asyncio.gather(loud.client(), loud.client())
        assert first is second
        assert fussy.sent[-1]["params"]["_meta"]["io.modelcontextprotocol/logLevel"] == "debug"
        hasty.methods["tools/list"] = raising(RuntimeError("a bug"))
        with pytest.raises(Unavailable, match="unexpected RuntimeError: a bug"):
            await host.add("hasty", {"command": "-"}, hasty).client()
        assert [host.shown(name).state for name in ("leaving", "early", "fussy", "hasty")] == [
            "crashed",
            "crashed",
            "ready",
            "failed",
        ]


async def test_what_is_declared_follows_from_the_entry_and_questions_come_with_the_local_name(tmp_path: Path) -> None:
    server = lettered()

    @server.tool
    async def ask(ctx: Context) -> dict[str, Any]:
        elicited = await ctx.elicit("How many?", int)
        sampled = await ctx.sample("Say")
        return {"elicited": elicited.action, "said": sampled.text, "roots": [each.uri for each in await ctx.roots()]}

    async with hosted(tmp_path) as host:
        client = await host.add("here", {"command": "-"}, server).client()
        result = await client.call_tool("ask")
        assert result.structured_content == {"elicited": "decline", "said": "said", "roots": ["file:///for/here"]}, (
            result
        )
        assert host.hooks.of("elicit") == [("elicit", "here", "How many?")]
        for options, declared in (
            ({}, {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}, "context": {}}}),
            ({"elicitation": "form"}, {"elicitation": {"form": {}}, "sampling": {"tools": {}, "context": {}}}),
            ({"elicitation": "off", "sampling": False}, {}),
        ):
            target = Listenable()
            target.capabilities = {}
            name = f"s{len(host.all)}"
            await host.add(name, {"command": "-", "x-splice": options}, target).client()
            meta = target.sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
            meta.pop("roots")
            assert meta == declared
        own = host.add("own", {"command": "-", "x-splice": {"roots": ["sub"]}}, server, folder=tmp_path)
        result = await (await own.client()).call_tool("ask")
        assert result.structured_content["roots"] == [(tmp_path / "sub").as_uri()]


async def test_a_login_that_is_needed_is_told_and_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    async with scripted() as both, hosted(tmp_path) as host:
        guarded = host.add("guarded", {"url": both.url})
        with pytest.raises(Unavailable, match="guarded: it wants a login"):
            await guarded.client()
        assert host.shown("guarded").state == "login"
        assert not both.seen["/register"]
        both.denies = True
        with pytest.raises(Unavailable, match=r"guarded: the login failed: .*declined"):
            await guarded.log_in(Browser())
        assert host.shown("guarded").state == "login"
        both.denies = False
        browser = Browser()
        await guarded.log_in(browser)
        assert len(browser.opened) == 1
        assert (host.shown("guarded").state, host.shown("guarded").tools) == ("ready", 2)
        client = await guarded.client()
        both.tokens.clear()
        both.refresh_tokens.clear()
        with pytest.raises(Exception, match="Log in again"):
            await client.call_tool("secret")
        assert host.shown("guarded").state == "login"
        own = host.add("own", {"url": both.url, "headers": {"Authorization": "Bearer wrong-token"}})
        with pytest.raises(Unavailable, match=r"own: .*401"):
            await own.client()
        assert (host.shown("own").state, "wrong-token" in repr(host.board.since())) == ("failed", False)
        with pytest.raises(Unavailable, match="which needs no login"):
            await host.add("p", {"command": "x"}).log_in(browser)


async def test_a_url_that_is_suspected_to_be_gone_is_tried_and_told(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        async with listening(lettered().http_app(path="/mcp")) as url:
            far = host.add("far", {"url": f"{url}?api_key=sesame"})
            client = await far.client()
            await far.suspect()
            await client.call_tool("add", {"a": 1, "b": 2})
            assert host.shown("far").state == "ready"
            assert host.shown("far").runs == f"{url}?api_key=***"
        with pytest.raises(ConnectionClosed):
            await client.call_tool("add", {"a": 1, "b": 2})
        await far.suspect()
        await until(lambda: host.shown("far").state == "crashed")
        assert "It is started again when it is needed" in host.shown("far").word
        with pytest.raises(Unavailable, match="far: "):
            await far.client()


async def test_a_name_is_given_once(tmp_path: Path) -> None:
    async with hosted(tmp_path) as host:
        same = entry_of("same", {"command": "same"})
        host.all.add(same)
        with pytest.raises(ValueError, match="there is a server 'same' already"):
            host.all.add(same)


async def test_twenty_servers_cost_nothing_until_they_are_used_and_all_end_at_once(tmp_path: Path) -> None:
    big = Server("big")
    for number in range(25):
        big.add_tool(lambda a, b: f"{a}{b}", name=f"tool{number}", description="It does something. " * 10)
    async with Client(big) as client:
        manifest = Manifest(tools=await client.list_tools())
    async with hosted(tmp_path) as host:
        for number in range(20):
            entry = entry_of(f"s{number}", {"command": f"no-such-{number}"})
            Connections(host.board, host.hooks, Places.under(tmp_path))._around.manifests.save(
                entry.fingerprint, manifest
            )
        for number in range(20):
            host.add(f"s{number}", {"command": f"no-such-{number}"})
        assert {each.state for each in host.all} == {"asleep"}
        assert sum(each.tools for each in host.board.all(items.Server)) == 500
        assert len(host.hooks.of("heard")) == 20
        eager = host.add("eager", {"command": "-", "x-splice": {"startup": "eager"}}, lettered())
        await host.all.start_eager()
        assert [each.entry.name for each in host.all if each.running] == ["eager"]
        stuck = [host.add(f"stuck{number}", {"command": "-"}, Stuck()) for number in range(3)]
        waiting = [asyncio.create_task(each.client()) for each in stuck]
        await until(lambda: all(each.state == "starting" for each in stuck))
        await host.all.close()
        for each in waiting:
            with pytest.raises(Unavailable, match="was stopped while it started"):
                await each
        assert eager.running is None


class Stuck(Listenable):
    """Never answers."""

    async def connect(self, receiver: Any) -> Any:
        await asyncio.Event().wait()
        return await super().connect(receiver)


async def test_a_server_whose_lists_change_all_the_time_is_asked_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However fast it answers: pauses are as long as patience has them, up to a limit, and an end waits for none."""
    for name, value in (("DEBOUNCE_SECONDS", 0.0), ("PATIENCE", 1e12), ("MAX_PAUSE_SECONDS", 0.01)):
        monkeypatch.setattr(f"splice.host.connecting.connection.{name}", value)
    restless = Listenable()
    restless.capabilities = {"tools": {"listChanged": True}}
    restless.methods["tools/list"] = returning({"resultType": "complete", "tools": []})
    asked = partial(restless.calls, "tools/list")
    async with hosted(tmp_path) as host:
        await host.add("restless", {"command": "-"}, restless).client()
        await restless.tell_change("notifications/tools/list_changed")
        await until(lambda: len(asked()) == 2)
        await restless.tell_change("notifications/tools/list_changed")
        await until(lambda: len(asked()) == 3)
        monkeypatch.setattr("splice.host.connecting.connection.MAX_PAUSE_SECONDS", 1e6)
        await restless.tell_change("notifications/tools/list_changed")
        await settle(200)
        assert len(asked()) == 3


async def test_lists_are_taken_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.host.connecting.listing.MAX_BYTES", 1_000)
    server = lettered()
    for number in range(3):
        server.add_tool(lambda: "x", name=f"t{number}", description="x" * 400)
    async with hosted(tmp_path) as host:
        large = host.add("large", {"command": "-"}, server)
        await large.client()
        assert host.shown("large").tools == 2
        assert "the others are left out" in large.output.lines()[0].text
