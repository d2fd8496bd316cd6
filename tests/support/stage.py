"""A board and a recorder of commands: what a face of the host sees, without the host behind it.

Scenes (`support.scenes`) are functions that fill the board.
"""

from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice.host.asked import Answer, Json, Trust, Visit
from splice.host.board import Board
from splice.host.config.entering import NotRead, Typed, typed
from splice.host.connecting.wire import Message as Sent
from splice.host.failing import HostError
from splice.host.items import Chat, Message, Question, Server
from splice.host.looks import Look
from splice.host.models.catalogue import Keyed
from splice.types import PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, TextContent


class Told(Struct, frozen=True):
    """One command that a face gave."""

    name: str
    arguments: dict[str, Any] = {}


class Line(Struct, frozen=True):
    """A line that a server wrote."""

    number: int
    at: float
    source: str
    level: str
    text: str


class Listing(Struct, frozen=True):
    """What a server has to read."""

    resources: list[Resource] = []
    templates: list[ResourceTemplate] = []
    problem: str = ""


class Record(Struct, frozen=True):
    """A line of the activity log."""

    number: int
    at: float
    kind: str
    server: str = ""
    facts: dict[str, Any] = {}
    turn: int = 0


class Log:
    """An activity log of so many records, made up when they are read."""

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.reads = 0

    def read(
        self, *, before: int | None = None, count: int = 200, server: str = "", kind: str = "", words: str = ""
    ) -> list[Record]:
        """Read backwards, the newest first."""
        self.reads += 1
        last = self.count if before is None else min(before - 1, self.count)
        made = (self.record(number) for number in range(last, 0, -1))
        found = (each for each in made if (not server or each.server == server) and (not kind or each.kind == kind))
        asked = (each for each in found if not words or words in msgspec.json.encode(each).decode())
        return [each for each, _ in zip(asked, range(count), strict=False)]

    def record(self, number: int) -> Record:
        server = ("travel", "weather", "mail")[number % 3]
        tool = ("searchFlights", "forecast", "sendEmail")[number % 3]
        facts = {"tool": tool, "why": "the rule travel/*", "seconds": number % 7 / 3, "state": "done", "bytes": number}
        return Record(number, 1_718_000_000 + number, "call", server, facts)


class Stage:
    """Has the commands of `Host`; each is only recorded, and does the least that a face waits for."""

    def __init__(self) -> None:
        self.board = Board()
        self.activity = Log()
        self.told: list[Told] = []
        self.listings: dict[str, Listing] = {}
        self.texts: dict[str, str] = {}
        self.contents: dict[str, list[ResourceContents]] = {}
        self.lines: dict[str, list[Line]] = {}
        self.wire: dict[str, list[Sent]] = {}
        self.withdrawn = ""
        """Why questions went that are gone; empty: they were answered in the browser."""
        self.others: list[Look] = []
        """What other hosts on this computer have."""
        self.previewed: list[PromptMessage] = []
        """What filled in prompts say before what is made of their arguments."""
        self.values: dict[str, list[str]] = {}
        """What completion offers for an argument, by its name."""

    def _tell(self, name: str, /, **arguments: Any) -> None:
        self.told.append(Told(name, {key: value for key, value in arguments.items() if value is not None}))

    def named(self, name: str) -> list[dict[str, Any]]:
        """List the arguments of each command of a name."""
        return [each.arguments for each in self.told if each.name == name]

    # A turn.

    async def say(
        self, text: str = "", *, prompt: str = "", arguments: dict[str, str] | None = None, tool: Json = None
    ) -> int:
        self._tell("say", text=text, prompt=prompt, arguments=arguments, tool=tool)
        number = len(self.board.all(Message)) + 1
        said = text or f"/{prompt.partition('/')[2]}"
        self.board.put(Message(id=f"message:{900 + number}", chat="chat:1", role="user", text=said, prompt=prompt))
        return number

    async def wait(self) -> Message:
        return Message(id="message:0", chat="chat:1", role="model")

    async def stop(self) -> None:
        self._tell("stop")

    async def cancel(self, call: str) -> None:
        self._tell("cancel", call=call)

    # Questions.

    def answer(self, question: str, answer: Answer, by: str) -> str:
        self._tell("answer", question=question, answer=answer, by=by)
        if self.board.get(question, Question) is None:
            return "web"
        self.board.drop(question)
        return ""

    def ended(self, question: str) -> str:
        return "" if self.board.get(question, Question) else self.withdrawn or "web"

    async def visit(self, question: str) -> None:
        self._tell("visit", question=question)
        item = self.board.get(question, Question)
        assert item is not None
        assert isinstance(item.asked, Visit)
        self.board.put(replace(item, asked=replace(item.asked, is_opened=True)))

    def draft(self, question: str, value: Json) -> None:
        self._tell("draft", question=question, value=value)

    # Chats.

    async def new_chat(self) -> str:
        self._tell("new_chat")
        return "chat:2"

    async def open_chat(self, id: str) -> None:
        self._tell("open_chat", id=id)

    async def branch(self, turn: int, again: bool = False) -> str:
        self._tell("branch", turn=turn, again=again)
        return "chat:2"

    async def rename_chat(self, id: str, title: str) -> None:
        self._tell("rename_chat", id=id, title=title)

    async def delete_chat(self, id: str) -> None:
        self._tell("delete_chat", id=id)

    # Servers and tools.

    async def start_server(self, name: str) -> None:
        self._tell("start_server", name=name)

    async def stop_server(self, name: str) -> None:
        self._tell("stop_server", name=name)

    async def restart_server(self, name: str) -> None:
        self._tell("restart_server", name=name)

    async def log_in(self, name: str) -> None:
        self._tell("log_in", name=name)

    def switch_server(self, name: str, on: bool) -> None:
        self._tell("switch_server", name=name, on=on)

    async def add_server(self, name: str, entry: Json) -> None:
        self._tell("add_server", name=name, entry=entry)

    async def reload(self) -> str:
        self._tell("reload")
        return "The files of servers are as they were."

    def look_at(self, name: str) -> Look:
        item = self.board.get(f"server:{name}", Server)
        assert item is not None
        return Look(name=name, asked=self.command(item.runs, item.source), scope="project", is_trusted=True)

    async def read_servers(self, text: str, name: str = "") -> list[Typed]:
        taken = [each.name for each in self.board.all(Server)]
        try:
            return typed(text, name, taken)
        except NotRead as error:
            raise HostError(f"{error}.") from error

    def review_server(self, name: str, entry: Any) -> Look:
        self._tell("review_server", name=name, entry=entry)
        words = [entry["url"]] if "url" in entry else [entry["command"], *entry.get("args", [])]
        return Look(name=name, asked=self.command(" ".join(words), "~/.config/splice/mcp.json"), scope="user")

    def command(self, runs: str, source: str) -> Trust:
        """Make what a person looks at."""
        seal, is_remote = "7f3a91c2e05b4d18" * 4, runs.startswith("https://")
        return Trust(
            runs, runs.split(), source, "/home/you/trips", ["TRAVEL_KEY"], fingerprint=seal, is_remote=is_remote
        )

    async def withdraw_trust(self, name: str) -> None:
        self._tell("withdraw_trust", name=name)

    async def importable(self) -> list[Look]:
        return self.others

    async def import_server(self, host: str, name: str, fingerprint: str) -> None:
        self._tell("import_server", host=host, name=name, fingerprint=fingerprint)

    async def remove_server(self, name: str) -> None:
        self._tell("remove_server", name=name)

    def output(self, server: str, after: int = 0) -> list[Line]:
        return [each for each in self.lines.get(server, []) if each.number > after]

    def messages(self, server: str, after: int = 0) -> list[Sent]:
        return [each for each in self.wire.get(server, []) if each.number > after]

    def switch_tool(self, id: str, on: bool) -> None:
        self._tell("switch_tool", id=id, on=on)

    def accept_tool(self, id: str) -> None:
        self._tell("accept_tool", id=id)

    # Resources and prompts.

    async def resources(self, server: str) -> Listing:
        return self.listings.get(server, Listing())

    async def read(self, server: str, uri: str) -> ReadResourceResult:
        self._tell("read", server=server, uri=uri)
        text = ResourceContents(uri=uri, text=self.texts.get(uri, "a text"))
        return ReadResourceResult(contents=self.contents.get(uri, [text]))

    async def complete(self, server: str, ref: Json, name: str, value: str, known: dict[str, str]) -> list[str]:
        self._tell("complete", server=server, ref=ref, name=name, value=value, known=dict(known))
        return [each for each in self.values.get(name, []) if each.lower().startswith(value.lower())]

    async def attach(self, server: str, uri: str) -> None:
        self._tell("attach", server=server, uri=uri)

    def detach(self, uri: str) -> None:
        self._tell("detach", uri=uri)

    async def refresh(self, uri: str) -> None:
        self._tell("refresh", uri=uri)

    async def preview(self, server: str, prompt: str, arguments: dict[str, str]) -> list[PromptMessage]:
        self._tell("preview", server=server, prompt=prompt, arguments=dict(arguments))
        said = ", ".join(f"{name} {value}" for name, value in arguments.items())
        return [*self.previewed, PromptMessage(role="user", content=TextContent(text=f"Plan it: {said}"))]

    # Permissions, roots, models, settings.

    def grant(self, effect: str, what: str) -> str:
        self._tell("grant", effect=effect, what=what)
        return "rule:new"

    def revoke(self, rule: str) -> None:
        self._tell("revoke", rule=rule)
        self.board.drop(rule)

    def restore(self, rule: str) -> None:
        self._tell("restore", rule=rule)

    async def add_root(self, path: str) -> None:
        self._tell("add_root", path=path)

    async def remove_root(self, uri: str) -> None:
        self._tell("remove_root", uri=uri)

    async def choose_model(self, id: str) -> None:
        self._tell("choose_model", id=id)

    def model_keys(self) -> list[Keyed]:
        return [
            Keyed("openai", "OpenAI", "OPENAI_API_KEY", False, "api.openai.com", ""),
            Keyed(
                "anthropic",
                "Anthropic",
                "ANTHROPIC_API_KEY",
                True,
                "api.anthropic.com",
                "pip install 'splice[anthropic]'",
            ),
        ]

    async def find_models(self) -> int:
        self._tell("find_models")
        return 0

    async def delete_log(self) -> int:
        self._tell("delete_log")
        return 2

    async def set(self, name: str, value: Json) -> None:
        self._tell("set", name=name, value=value)


def open_chat(stage: Stage, **fields: Any) -> None:
    """Put the open chat."""
    stage.board.put(Chat(id="chat:1", title="Barcelona in June", is_open=True, created=1_718_000_000.0, **fields))
