"""Commands of the host about what the user decides: answers, rules, folders, the model, settings."""

import asyncio
from urllib.parse import urlsplit
from urllib.request import url2pathname

from splice.host.asked import Answer, By, Json
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.permissions import Effect, check, server_in, strange
from splice.host.engine import Engine
from splice.host.failing import HostError
from splice.host.items import Rule
from splice.host.models.base import ModelFailed
from splice.host.models.catalogue import Keyed
from splice.host.places import keep, private
from splice.host.settings import SettingWrong
from splice.host.text import one_line


class Choices(Engine):
    """The commands about decisions."""

    def answer(self, question: str, answer: Answer, by: By) -> str:
        """Answer a question. Returns who answered before, or nothing. Raises `HostError` for what does not fit."""
        try:
            return self.questions.answer(question, answer, by)
        except WrongAnswer as error:
            raise HostError(str(error)) from error

    def draft(self, question: str, value: Json) -> None:
        """Keep what was filled in so far, so that every face shows it."""
        try:
            self.questions.draft(question, value)
        except WrongAnswer as error:
            raise HostError(str(error)) from error

    async def visit(self, question: str) -> None:
        """Open the address of a visit in the user's browser."""
        try:
            await self.services.elicitation.open(question)
        except WrongAnswer as error:
            raise HostError(str(error)) from error

    def ended(self, question: str) -> str:
        """Tell how a question ended: who answered it, or why it was withdrawn; empty: it waits, or nobody knows."""
        return self.questions.ended(question)

    def grant(self, effect: Effect, what: str) -> str:
        """Make a lasting rule, about what `splice.host.asking.permissions` says: ``travel/*``, ``reads travel``.

        Returns its id. Raises `HostError`, also for a rule about a server that there is not: it was misspelt. A denial
        with `*` for its server is about those to come, too.
        """
        try:
            check(effect, what)
            names = [each.entry.name for each in self.parts.connections]
            if "*" not in server_in(what) and (wrong := strange([what], names)):
                raise HostError(f"The rule {wrong}")
            rule = self.permissions.grant(effect, what)
        except (ValueError, OSError) as error:
            raise HostError(f"The rule cannot be made: {error}") from error
        self.activity.record("rule", rule=rule.id, what=what, effect=effect)
        return rule.id

    def revoke(self, rule: str) -> None:
        """Take a lasting permission back."""
        known = self.board.get(rule, Rule)
        try:
            self.permissions.revoke(rule)
        except KeyError as error:
            raise HostError("There is no such rule") from error
        except OSError as error:
            raise HostError(f"The rule cannot be revoked: {error}") from error
        self.activity.record("rule", rule=rule, what=known.what if known else "", revoked=True)

    def restore(self, rule: str) -> None:
        """Put a rule back that was revoked since the host opened."""
        try:
            found = self.permissions.restore(rule)
        except KeyError as error:
            raise HostError("There is no such rule to restore") from error
        except OSError as error:
            raise HostError(f"The rule cannot be restored: {error}") from error
        self.activity.record("rule", rule=rule, what=found.what, restored=True)

    async def add_root(self, path: str) -> None:
        """Tell servers of a folder, now and when the host is opened again."""
        folder = _path_of(self.add_folder(path).uri)
        if folder not in self.settings["roots"]:
            await self.set("roots", [*self.settings["roots"], folder])

    async def remove_root(self, uri: str) -> None:
        """Tell servers no longer of a folder."""
        try:
            self.services.folders.remove(uri)
        except KeyError as error:
            raise HostError(f"{one_line(uri)} is not one of the folders") from error
        kept: list[str] = self.settings["roots"]
        if _path_of(uri) in kept:
            await self.set("roots", [each for each in kept if each != _path_of(uri)])

    async def choose_model(self, id: str) -> None:
        """Choose a model, from the next step on. The choice is kept."""
        id = id.removeprefix("model:")
        try:
            self.catalogue.choose(id)
        except ModelFailed as error:
            raise HostError(error.message) from error
        await self.set("model", id)

    def model_keys(self) -> list[Keyed]:
        """Tell from which variables the keys of providers are read, and which are set. No key is told."""
        return self.catalogue.keys

    async def find_models(self) -> int:
        """Look for programs on this computer that serve models. Returns how many models there are."""
        return await self.catalogue.find()

    async def delete_log(self) -> int:
        """Delete the activity of sessions that have ended. Returns how many there were."""
        try:
            number = await asyncio.to_thread(self.activity.forget)
        except OSError as error:
            raise HostError(f"Old activity cannot be deleted: {error}") from error
        self.activity.record("setting", name="activity", value=f"{number} earlier sessions deleted")
        return number

    async def set(self, name: str, value: Json) -> None:
        """Change a setting; None: back to its default."""
        try:
            private(self.places.config)
            self.parts.settings.set(name, value, keep)
        except SettingWrong as error:
            raise HostError(str(error)) from error
        except OSError as error:
            raise HostError(f"The settings cannot be written: {error}") from error
        self.activity.record("setting", name=name, value=value)
        self.apply_settings()


def _path_of(uri: str) -> str:
    return url2pathname(urlsplit(uri).path)
