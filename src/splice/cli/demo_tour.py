"""What `splice demo` shows of the demo server over one link: every kind of feature, one call each."""

import time
from collections.abc import Iterable

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from splice import Client, HTTPServer, StdioServer
from splice.cli.asking import Terminal
from splice.cli.list import offers_of
from splice.cli.showing import block_text, contents_text, result_text
from splice.cli.text import one_line
from splice.types import CallToolResult, ElicitParams, ElicitResult, ElicitValue, LogParams

GUEST: dict[str, ElicitValue] = {"name": "Ada", "guests": 2, "place": "terrace"}
"""What the demo answers when there is nobody to ask."""

MINUTES = 5
BAR = 24
LABEL = 9


class Seen(Struct):
    """What one tour saw."""

    transport: str
    version: str = ""
    tools: list[str] = []
    resources: list[str] = []
    prompts: list[str] = []
    bill: float = 0
    reserved: str = ""
    asked: int = 0
    progress: int = 0
    logs: int = 0
    milliseconds: int = 0

    def problems(self) -> Iterable[str]:
        """Name what is not as it should be."""
        if not (self.tools and self.resources and self.prompts):
            yield "the server did not list all it has"
        if self.bill != 22:
            yield f"two plates of pasta cost {self.bill}"
        if not self.reserved or not self.asked:
            yield "the question did not arrive"
        if self.progress != MINUTES:
            yield f"{self.progress} of {MINUTES} progress reports arrived"
        if not self.logs:
            yield "no log message arrived"


class Tour:
    """One walk through the demo server."""

    def __init__(self, transport: str, out: Console, *, interactive: bool) -> None:
        self.seen = Seen(transport)
        self._out = out
        self._interactive = interactive
        self._terminal = Terminal("the demo's server")

    async def walk(self, place: StdioServer | HTTPServer, protocol: str) -> Seen:
        """Connect and show everything. Raises `MCPError`."""
        began = time.perf_counter()
        client = Client(place, on_elicit=self._answer, on_log=self._log, protocol=protocol)
        async with client:
            self.seen.version = client.protocol_version
            await self._offers(client)
            for step in (self._price, self._cook, self._reserve, self._fail, self._read, self._prompt):
                await step(client)
        self.seen.milliseconds = round((time.perf_counter() - began) * 1000)
        return self.seen

    async def _offers(self, client: Client) -> None:
        await client.set_log_level("info")
        offers, _ = await offers_of(client)
        self.seen.tools = [one_line(each.name) for each in offers["tools"]]
        self.seen.resources = [one_line(each.uri) for each in offers["resources"]]
        self.seen.prompts = [one_line(each.name) for each in offers["prompts"]]
        self._say("tools", ", ".join(self.seen.tools))
        self._say("resources", ", ".join(self.seen.resources))
        self._say("prompts", ", ".join(self.seen.prompts))

    async def _price(self, client: Client) -> None:
        self._say("call", "price dish=pasta count=2", "bold")
        result = await client.call_tool("price", {"dish": "pasta", "count": 2})
        self.seen.bill = result.structured_content["total"]
        self._result(result)

    async def _cook(self, client: Client) -> None:
        self._say("call", f"cook dish=soup minutes={MINUTES}", "bold")
        result = await client.call_tool("cook", {"dish": "soup", "minutes": MINUTES}, progress=self._progress)
        self._result(result)

    async def _reserve(self, client: Client) -> None:
        self._say("call", "reserve", "bold")
        result = await client.call_tool("reserve")
        self.seen.reserved = result.text
        self._result(result)

    async def _fail(self, client: Client) -> None:
        self._say("call", "price dish=pizza", "bold")
        self._result(await client.call_tool("price", {"dish": "pizza"}))

    async def _read(self, client: Client) -> None:
        self._say("read", "menu://today", "bold")
        for contents in (await client.read_resource("menu://today")).contents:
            self._say("", f"→ {contents_text(contents)}", "green")

    async def _prompt(self, client: Client) -> None:
        self._say("prompt", "recommend mood=hungry", "bold")
        for message in (await client.get_prompt("recommend", {"mood": "hungry"})).messages:
            self._say("", f"→ {message.role}: {block_text(message.content)}", "green")

    async def _answer(self, params: ElicitParams) -> ElicitResult:
        self.seen.asked += 1
        if self._interactive:
            return await self._terminal.elicit(params)
        self._say("", f"the server asks: {one_line(params.message)}", "yellow")
        answers = ", ".join(f"{name} {value}" for name, value in GUEST.items())
        self._say("", f"answered without a terminal: {answers}", "yellow")
        return ElicitResult(action="accept", content=dict(GUEST))

    def _log(self, params: LogParams) -> None:
        self.seen.logs += 1
        self._say("", f"log, {params.level}: {one_line(str(params.data))}", "magenta")

    def _progress(self, value: float, total: float | None, message: str | None) -> None:
        self.seen.progress += 1
        share = value / total if total else 0
        bar = ("━" * round(share * BAR)).ljust(BAR)
        over = share >= 1
        if over or self._out.is_terminal:
            text = f"{'':{LABEL + 4}}{bar} {value:g}/{total or 0:g} {one_line(message or '')}"
            self._out.print(Text(text, "blue"), end="\n" if over else "\r")

    def _result(self, result: CallToolResult) -> None:
        if result.is_error is True:
            self._say("", f"→ refused: {result_text(result)}", "red")
        else:
            self._say("", f"→ {result_text(result)}", "green")

    def _say(self, label: str, text: str, style: str = "") -> None:
        self._out.print(Text.assemble((f"  {label:<{LABEL}}  ", "dim"), (text, style)))
