"""Commands of line mode: every screen of the app has one. `/servers`, or the word alone."""

from collections.abc import Awaitable, Callable

from splice.host.items import Change, Chat, Model, Prompt, Question, Rule, Server, Tool
from splice.host.terminal import prompts, words
from splice.host.terminal.hosted import Hosted
from splice.host.terminal.talk import Talk

BARE = {"help", "servers", "tools", "prompts", "log", "permissions", "revoke", "restore", "questions", "quit"}
"""Commands that need no `/`, if nothing but their argument follows."""


USAGE = {
    "servers": "",
    "start": "SERVER",
    "restart": "SERVER",
    "login": "SERVER",
    "output": "SERVER",
    "tools": "[SERVER]",
    "on": "TOOL",
    "off": "TOOL",
    "accept": "TOOL",
    "prompts": "",
    "resources": "[SERVER]",
    "read": "SERVER URI",
    "attach": "SERVER URI",
    "detach": "URI",
    "permissions": "",
    "revoke": "NUMBER",
    "restore": "",
    "questions": "",
    "chats": "",
    "open": "NUMBER",
    "new": "",
    "models": "",
    "model": "NUMBER",
    "log": "[COUNT]",
    "cancel": "NUMBER",
    "stop": "",
    "help": "",
    "quit": "",
}
"""The commands, and what stands behind each. TOOL is also a server, for all that it has."""


class Quit(Exception):
    """The user wants to leave."""


class Orders:
    """Does what a command says."""

    def __init__(self, host: Hosted, talk: Talk) -> None:
        self._host, self._talk = host, talk
        self._revoked = ""

    async def obey(self, name: str, rest: str) -> bool:
        """Do a command; False: there is none of this name. Raises `Quit`, and what the host raises."""
        alone, of = self._alone(), self._of()
        needed = [each for each in USAGE.get(name, "").split() if not each.startswith("[")]
        if len(rest.split()) < len(needed):
            self._talk.tell(f"Write /{name} {USAGE[name]}.")
        elif name in alone:
            await alone[name]()
        elif name in of:
            await of[name](rest.strip())
        return name in alone or name in of

    def _alone(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {
            "help": self._help,
            "servers": self._servers,
            "prompts": self._prompts,
            "permissions": self._permissions,
            "restore": self._restore,
            "questions": self._questions,
            "chats": self._chats,
            "new": self._new,
            "models": self._models,
            "stop": self._host.stop,
            "quit": self._quit,
        }

    def _of(self) -> dict[str, Callable[[str], Awaitable[None]]]:
        return {
            "tools": self._tools,
            "resources": self._resources,
            "read": self._read,
            "attach": self._attach,
            "detach": self._detach,
            "log": self._log,
            "output": self._output,
            "revoke": self._revoke,
            "start": self._host.start_server,
            "restart": self._host.restart_server,
            "login": self._host.log_in,
            "on": lambda rest: self._switch(rest, on=True),
            "off": lambda rest: self._switch(rest, on=False),
            "accept": self._accept,
            "open": self._open,
            "model": self._model,
            "cancel": lambda rest: self._host.cancel(f"call:{rest}"),
        }

    async def _help(self) -> None:
        self._talk.tell("Write to the model, or a prompt: /NAME ARGUMENT=VALUE.")
        self._talk.tell(f"Commands: {', '.join(f'/{name} {usage}'.rstrip() for name, usage in USAGE.items())}.")
        self._talk.tell("Questions are answered by words; an empty line repeats the question.")

    async def _servers(self) -> None:
        servers = sorted(self._host.board.all(Server), key=lambda each: each.hue)
        if not servers:
            self._talk.tell("There are no servers.")
        for each in servers:
            seen = " when it last ran" if each.is_remembered else ""
            known = f"{each.tools} tools, {each.resources} resources, {each.prompts} prompts{seen}"
            self._talk.tell(f"{each.name}: {words.state(each)}, {known}. {each.runs}. {each.word}".rstrip())
            for line in each.last_words:
                self._talk.tell(f"  It said: {line}")

    async def _tools(self, rest: str) -> None:
        for each in self._host.board.all(Tool):
            if not rest or each.server == rest:
                state = "held back, as it changed" if each.held is not None else "on" if each.is_on else "off"
                self._talk.tell(f"{each.server}/{each.name}: {state}, {each.tokens} tokens. {words.claims(each)}")
                for change in each.held or ():
                    self._talk.tell(f"  {change.where}: {_difference(change)}")
                for finding in each.findings:
                    self._talk.tell(f"  Warning: {finding.where}: {finding.what}")

    async def _prompts(self) -> None:
        for each in self._host.board.all(Prompt):
            names = " ".join(f"{one.name}={'…' if one.is_required else '(optional)'}" for one in each.arguments)
            self._talk.tell(f"/{each.name} {names}: {each.title or each.description}, of {each.server}.")

    async def _resources(self, rest: str) -> None:
        for name in [rest] if rest else [each.name for each in self._host.board.all(Server) if each.resources]:
            listed = await self._host.resources(name)
            for each in listed.resources:
                self._talk.tell(f"{each.uri}: {each.title or each.name}, of {name}.")
            for template in listed.templates:
                self._talk.tell(f"{template.uri_template}: {template.title or template.name}, a template of {name}.")
            if listed.problem:
                self._talk.tell(f"Warning: {name}: {listed.problem}.")

    async def _read(self, rest: str) -> None:
        server, _, uri = rest.partition(" ")
        result = await self._host.read(server, uri)
        for content in result.contents:
            for line in (content.text or f"{content.mime_type or 'Bytes'}, no text.").split("\n"):
                self._talk.tell(f"  {line}")

    async def _attach(self, rest: str) -> None:
        server, _, uri = rest.partition(" ")
        await self._host.attach(server, uri)
        self._talk.tell(f"{uri} goes along with what you write next.")

    async def _detach(self, rest: str) -> None:
        self._host.detach(rest)

    async def _log(self, rest: str) -> None:
        for each in reversed(self._host.activity.read(count=_number(rest, 20))):
            facts = ", ".join(f"{name} {words.short(value)}" for name, value in each.facts.items())
            self._talk.tell(f"{words.clock(each.at)} {each.kind} {each.server}: {facts}.")

    async def _output(self, rest: str) -> None:
        for each in list(self._host.output(rest))[-40:]:
            self._talk.tell(f"{words.clock(each.at)} {each.source} {each.level}: {each.text}")

    def _rules(self) -> list[Rule]:
        return sorted(self._host.board.all(Rule), key=lambda each: each.id)

    async def _permissions(self) -> None:
        for number, each in enumerate(self._rules(), 1):
            long = "in this chat" if each.scope == "chat" else "always"
            since = f"since {words.day(each.made)}, used {each.uses} times"
            self._talk.tell(f"{number}: {each.effect} {each.what} {long}, {since}.")
        if not self._rules():
            self._talk.tell("There are no rules: everything is asked.")

    async def _revoke(self, rest: str) -> None:
        rules = self._rules()
        place = _number(rest, 0)
        if not 1 <= place <= len(rules):
            self._talk.tell(f"There is no rule {rest}. /permissions lists them by their numbers.")
            return
        self._revoked = rules[place - 1].id
        self._host.revoke(self._revoked)
        self._talk.tell(f"Revoked: {rules[place - 1].effect} {rules[place - 1].what}. /restore brings it back.")

    async def _restore(self) -> None:
        if self._revoked:
            self._host.restore(self._revoked)
            self._talk.tell("It is back.")
        else:
            self._talk.tell("Nothing was revoked here.")

    async def _questions(self) -> None:
        self._talk.tell(f"{len(self._host.board.all(Question))} wait for you.")

    async def _switch(self, rest: str, *, on: bool) -> None:
        for each in self._host.board.all(Tool):
            if rest in (each.name, f"{each.server}/{each.name}"):
                self._host.switch_tool(each.id, on)
                return
        self._host.switch_server(rest, on)

    async def _accept(self, rest: str) -> None:
        for each in self._host.board.all(Tool):
            if each.held is not None and rest in (each.name, f"{each.server}/{each.name}"):
                self._host.accept_tool(each.id)
                self._talk.tell(f"{each.name} is as you accepted it.")

    async def _chats(self) -> None:
        for number, each in enumerate(self._host.board.all(Chat), 1):
            of = f"{each.id.removeprefix('chat:')[:6]}, {words.day(each.changed)}{', open' if each.is_open else ''}"
            self._talk.tell(f"{number}: {each.title or 'untitled'}, {of}.")

    async def _open(self, rest: str) -> None:
        chats = self._host.board.all(Chat)
        if 1 <= (place := _number(rest, 0)) <= len(chats):
            await self._host.open_chat(chats[place - 1].id)

    async def _new(self) -> None:
        await self._host.new_chat()

    async def _models(self) -> None:
        await self._host.find_models()
        for number, each in enumerate(self._host.board.all(Model), 1):
            chosen = ", chosen" if each.is_chosen else ""
            self._talk.tell(f"{number}: {words.label(each)} {each.where}{chosen}.")

    async def _model(self, rest: str) -> None:
        models = self._host.board.all(Model)
        if 1 <= (place := _number(rest, 0)) <= len(models):
            await self._host.choose_model(models[place - 1].id)

    async def _quit(self) -> None:
        raise Quit


def _difference(change: Change) -> str:
    names = {" ": "", "-": "gone: ", "+": "new: "}
    return " ".join(f"{names[mark]}{text.strip()};" for mark, text in change.words).rstrip(";")


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else otherwise


async def say(host: Hosted, talk: Talk, line: str) -> None:
    """Say a message, or a prompt, whose missing arguments are asked for. Raises what the host raises."""
    if not line.startswith("/"):
        await host.say(line)
        return
    named = prompts.parse(line)
    found = prompts.find(host.board, named.name)
    if len(found) != 1:
        said = ", ".join(f"/{each.server}/{each.name}" for each in found)
        talk.tell(f"Which one: {said}?" if found else f"There is no command or prompt /{named.name}. /help lists them.")
        return
    prompt, arguments = found[0], dict(named.arguments)
    for each in prompt.arguments:
        if each.is_required and not arguments.get(each.name):
            arguments[each.name] = await talk.ask(f"{each.title or each.name} {each.description}".rstrip() + ":")
    await host.say(named.rest, prompt=f"{prompt.server}/{prompt.name}", arguments=arguments)


def is_bare(line: str) -> bool:
    """Tell whether a line without a `/` is a command."""
    name, *rest = line.split() or [""]
    return name in BARE and (not rest or (len(rest) == 1 and rest[0].isdecimal()))
