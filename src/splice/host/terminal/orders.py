"""Commands of line mode: every screen of the app has one. `/servers`, or the word alone."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from splice.host.board import Board
from splice.host.config.entering import NotRead, typed
from splice.host.items import Change, Chat, Model, Prompt, Question, Root, Server, Tool
from splice.host.terminal import prompts, recorded, rulings, words
from splice.host.terminal.hosted import Hosted, Listed, Page
from splice.host.terminal.rulings import Rulings
from splice.host.terminal.talk import Talk

BARE = {
    *("help", "servers", "tools", "prompts", "resources", "templates", "log", "permissions", "revoke", "restore"),
    *("questions", "chats", "models", "folders", "settings", "quit"),
}
"""Commands that need no `/`, if nothing but a number, or the name of a server, follows."""


USAGE = {
    "servers": "",
    "start": "SERVER",
    "restart": "SERVER",
    "login": "SERVER",
    "reload": "",
    "output": "SERVER",
    "messages": "SERVER",
    "add": "NAME COMMAND|URL|JSON",
    "remove": "SERVER",
    "tools": "[SERVER]",
    "on": "TOOL",
    "off": "TOOL",
    "accept": "TOOL",
    "prompts": "",
    "resources": "[SERVER]",
    "templates": "[SERVER]",
    "read": "SERVER URI",
    "attach": "SERVER URI",
    "detach": "URI",
    **rulings.USAGE,
    "questions": "",
    "chats": "",
    "open": "NUMBER",
    "new": "",
    "rename": "NUMBER TITLE",
    "delete": "NUMBER",
    "folders": "",
    "folder": "PATH",
    "forget": "NUMBER",
    "models": "",
    "model": "NUMBER",
    "log": "[COUNT]",
    "cancel": "NUMBER",
    "page": "",
    "stop": "",
    "unsay": "",
    "help": "",
    "quit": "",
}
"""The commands, and what stands behind each. TOOL is also a server, for all that it has."""


MOST_SHOWN = 2_000
"""How many characters of a message of the wire are told."""


class Quit(Exception):
    """The user wants to leave."""


class Orders:
    """Does what a command says."""

    def __init__(self, host: Hosted, talk: Talk, page: Page | None = None) -> None:
        self._host, self._talk, self._page = host, talk, page
        self._rulings = Rulings(host, talk)

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
            **self._rulings.alone(),
            "questions": self._questions,
            "chats": self._chats,
            "new": self._new,
            "folders": self._folders,
            "models": self._models,
            "stop": self._host.stop,
            "page": self._open_page,
            "reload": self._reload,
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
            "messages": self._messages,
            "add": self._add,
            "remove": self._remove,
            "templates": self._templates,
            "rename": self._rename,
            "delete": self._delete,
            **self._rulings.of(),
            "start": self._host.start_server,
            "restart": self._host.restart_server,
            "login": self._host.log_in,
            "on": lambda rest: self._switch(rest, on=True),
            "off": lambda rest: self._switch(rest, on=False),
            "accept": self._accept,
            "open": self._open,
            "folder": self._add_folder,
            "forget": self._forget,
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

    async def _reload(self) -> None:
        await self._host.reload()  # the board says what came of it

    async def _tools(self, rest: str) -> None:
        for each in self._host.board.all(Tool):
            if not rest or each.server == rest:
                state = "held back, as it changed" if each.held is not None else "on" if each.is_on else "off"
                self._talk.tell(f"{each.server}/{each.name}: {state}, {each.tokens} tokens. {words.claims(each)}")
                for change in each.held or ():
                    self._talk.tell(f"  {change.where}: {_difference(change)}")
                for note in each.notes:
                    self._talk.tell(f"  {note}")
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
            self._told(name, listed)

    async def _templates(self, rest: str) -> None:
        for name in (
            [rest] if rest else [each.name for each in self._host.board.all(Server) if each.templates or each.resources]
        ):
            self._told(name, await self._host.resources(name))

    def _told(self, name: str, listed: Listed) -> None:
        """Tell the templates of a server, and why there are not all."""
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
            self._talk.tell(recorded.line(each, recorded.told(each).whole))

    async def _output(self, rest: str) -> None:
        for each in list(self._host.output(rest))[-40:]:
            self._talk.tell(f"{words.clock(each.at)} {each.source} {each.level}: {each.text}")

    async def _messages(self, rest: str) -> None:
        for each in list(self._host.messages(rest))[-40:]:
            text = each.text[:MOST_SHOWN] + (" …" if each.cut or len(each.text) > MOST_SHOWN else "")
            self._talk.tell(f"{words.clock(each.at)} {each.direction}: {text}")

    async def _add(self, rest: str) -> None:
        name, _, source = rest.partition(" ")
        try:
            made = typed(source, name)
        except NotRead as error:
            self._talk.tell(f"{error}.")
            return
        for each in made:
            await self._add_one(name if len(made) == 1 else each.name, each.entry)

    async def _add_one(self, name: str, entry: Mapping[str, Any]) -> None:
        look = self._host.review_server(name, entry)
        self._talk.tell(f"This would run, as you, when {look.name} is needed: {' '.join(look.asked.words)}")
        self._talk.tell(f"  In {look.asked.folder}, with {', '.join(look.asked.variables) or 'no variables'}.")
        if look.is_known or look.problem:
            self._talk.tell(f"Not added: {look.problem or f'there is a server {look.name} already'}.")
        elif await self._talk.ask("Write add to add it, anything else to leave it:") == "add":
            await self._host.add_server(name, entry)
            self._talk.tell(f"{look.name} is added.")
        else:
            self._talk.tell("It is not added.")

    async def _remove(self, rest: str) -> None:
        if await self._talk.ask(f"Write remove to stop {rest} and take it out of your own file:") == "remove":
            await self._host.remove_server(rest)
            self._talk.tell(f"{rest} is removed.")
        else:
            self._talk.tell("It stays.")

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
        for number, each in enumerate(self._kept(), 1):
            of = f"{words.key_of(each)[:6]}, {words.day(each.changed)}{', open' if each.is_open else ''}"
            self._talk.tell(f"{number}: {each.title or 'untitled'}, {of}.")

    def _kept(self) -> list[Chat]:
        """List the chats: their numbers stay while they change."""
        return sorted(self._host.board.all(Chat), key=lambda each: (each.created, each.id))

    def _chat(self, number: str) -> Chat | None:
        """Find a chat by its number; say if there is none."""
        chats = self._kept()
        if 1 <= (place := _number(number, 0)) <= len(chats):
            return chats[place - 1]
        self._talk.tell(f"There is no chat {number}. /chats lists them by their numbers.")
        return None

    async def _open(self, rest: str) -> None:
        if (chat := self._chat(rest)) is not None:
            await self._host.open_chat(words.key_of(chat))

    async def _rename(self, rest: str) -> None:
        number, _, title = rest.partition(" ")
        if (chat := self._chat(number)) is not None:
            await self._host.rename_chat(words.key_of(chat), title)
            self._talk.tell(f"It is called {title} now.")

    async def _delete(self, rest: str) -> None:
        chat = self._chat(rest)
        if chat is None:
            return
        said = f"Write delete to delete {chat.title or 'untitled'}; nothing brings it back:"
        if await self._talk.ask(said) == "delete":
            await self._host.delete_chat(words.key_of(chat))
            self._talk.tell("Deleted.")
        else:
            self._talk.tell("It stays.")

    async def _new(self) -> None:
        await self._host.new_chat()

    def _roots(self) -> list[Root]:
        return sorted(self._host.board.all(Root), key=lambda each: each.uri)

    async def _folders(self) -> None:
        for number, each in enumerate(self._roots(), 1):
            self._talk.tell(f"{number}: {each.uri}.")
        told = "They are a wish, not a wall: servers can read what you can read."
        self._talk.tell(told if self._roots() else "Servers are told of no folder.")

    async def _add_folder(self, rest: str) -> None:
        await self._host.add_root(rest)
        self._talk.tell("Servers that ask are told of it.")

    async def _forget(self, rest: str) -> None:
        roots = self._roots()
        if 1 <= (place := _number(rest, 0)) <= len(roots):
            await self._host.remove_root(roots[place - 1].uri)
            self._talk.tell(f"Servers are told no more of {roots[place - 1].uri}.")
        else:
            self._talk.tell(f"There is no folder {rest}. /folders lists them by their numbers.")

    async def _models(self) -> None:
        await self._host.find_models()
        for number, each in enumerate(self._host.board.all(Model), 1):
            chosen = ", chosen" if each.is_chosen else ""
            self._talk.tell(f"{number}: {words.label(each)} {each.where}{chosen}.")

    async def _model(self, rest: str) -> None:
        models = self._host.board.all(Model)
        if 1 <= (place := _number(rest, 0)) <= len(models):
            await self._host.choose_model(models[place - 1].id)
        else:
            self._talk.tell(f"There is no model {rest}. /models lists them by their numbers.")

    async def _open_page(self) -> None:
        told = "There is no page here." if self._page is None else f"The same is at {await self._page()}"
        self._talk.tell(told)

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


def is_bare(line: str, board: Board) -> bool:
    """Tell whether a line without a `/` is a command."""
    name, *rest = line.split() or [""]
    known = {each.name for each in board.all(Server)}
    return name in BARE and (not rest or (len(rest) == 1 and (rest[0].isdecimal() or rest[0] in known)))
