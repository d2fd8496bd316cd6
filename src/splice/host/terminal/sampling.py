"""A server wants the model: first what is asked of it, then what it said. Both can be edited."""

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from msgspec.structs import replace
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from splice.host.asked import Completion, Json, Reviewed, Sampling
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskKey
from splice.host.terminal.asking import Asking
from splice.host.terminal.dialog import Choice, para
from splice.host.terminal.face import face
from splice.host.terminal.inputs import SafeArea
from splice.host.terminal.keys import bindings
from splice.host.terminal.panels import facts
from splice.host.terminal.serving import definitions, edited, others, sums, texts

AReview = TypeVar("AReview", Sampling, Completion)


class Area(SafeArea):
    """Text that can be edited: read-only until the user wants to, and marked once it is not as it came."""

    def __init__(self, text: str, *, id: str, given: str) -> None:
        super().__init__(text, compact=True, id=id, read_only=True, classes="edits")
        self.given = given

    @property
    def changed(self) -> str | None:
        """The text, if it is not as it came."""
        return self.text if self.text != self.given else None


class Label(Static):
    """The name of an area, and whether it was edited."""

    def __init__(self, text: str, of: str) -> None:
        super().__init__(classes="label")
        self._text, self.of = text, of

    def on_mount(self) -> None:
        """Draw it."""
        self.draw(is_edited=False)

    def draw(self, *, is_edited: bool) -> None:
        """Draw it."""
        self.update(drawn.row(face(self).line(self._text, "$muted"), ("   edited" if is_edited else "", "$accent")))


class Reviewing(Asking[AReview]):
    """What both steps have: areas to edit."""

    guarded = frozenset({"once", "chat", "edit", "again", "deny", "share", "model"})
    steps = ("1 request", "2 answer")
    step = 0
    """Which of them this is."""
    does = ""
    """What the server does, in words."""

    def heading(self) -> Content:
        """Draw who asks."""
        return self.marked(self.server(), (f" {self.does}", "bold"), self.during(self.asked.call))

    def state(self) -> Content:
        """Draw which step this is."""
        first, second = ((each, "" if place == self.step else "$muted") for place, each in enumerate(self.steps))
        return drawn.row(first, (f" {self.face.glyphs.to} ", "$muted"), second, "   ", super().state())

    def area(self, id: str, given: str) -> Area:
        """Make an area, with what was typed before. What cannot be seen is marked in a line above it."""
        return Area(self.kept.values.get(id, given), id=id, given=given)

    def marks(self, text: str) -> Iterable[Widget]:
        """Show a text with marks, where it holds what an area would not show."""
        if words.hidden(text):
            yield para(self.warning(drawn.row("Hidden characters are in it: ", self.face.text(text))))

    def action_edit(self) -> None:
        """Let the areas be edited."""
        for area in self.query(Area):
            area.read_only = False
        for area in self.query(Area):
            area.focus()
            return

    def on_text_area_changed(self) -> None:
        """Say what was edited."""
        for label in self.query(Label):
            label.draw(is_edited=self.query_one(f"#{label.of}", Area).changed is not None)

    def keep(self) -> None:
        """Keep what was typed."""
        super().keep()
        self.kept.values |= {area.id or "": area.text for area in self.query(Area)}

    def action_deny(self) -> None:
        """Deny it."""
        self.give(Reviewed("deny"))


class SamplingDialog(Reviewing[Sampling]):
    """Asks whether a model may go on with these messages."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("sampling")
    place = "sampling"

    does = "wants the model"

    def warnings(self) -> Iterable[Widget]:
        """Say what it sees."""
        shares = self.kept.values.get("share")
        sees = (
            "It sees what is below, and this once your chat."
            if shares
            else "It sees what is below, nothing of your chat."
        )
        yield para(drawn.row(sees, " You see the answer before ", self.face.line(self.question.server), " does."))

    def told(self) -> Iterable[Widget]:
        """Make the messages, and what a person should know."""
        asked = self.asked
        yield Label("System prompt", "system")
        yield from self.marks(asked.system)
        yield self.area("system", asked.system)
        said = texts(asked.messages)
        count = len(words.elements(asked.messages))
        for each in said:
            lines = each.text.count("\n") + 1
            yield Label(f"Message {each.place + 1} of {count}, from {each.role}, {lines} lines", f"m{each.place}")
            yield from self.marks(each.text)
            yield self.area(f"m{each.place}", each.text)
        for other in others(asked.messages):
            yield para(drawn.row(("Also sent  ", "$muted"), self.face.line(other)))
        for name, told in definitions(asked):
            yield Static(self.face.line(name, "$muted"), classes="label")
            yield Static(self.face.text(told), classes="quote")
        yield para(self._facts(), "facts")

    def _facts(self) -> Content:
        """Draw what a person should know: the model, why it, the size."""
        chosen = self.kept.values.get("model")
        known = [(name, chosen if name == "Model" and chosen else told) for name, told in sums(self.asked)]
        return drawn.row("\n", facts(*((name, self.face.line(told)) for name, told in known)))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Static("Allow ", classes="lead")
        yield Choice("Once", "once", allows=True)
        yield Choice("This chat", "chat", allows=True)
        yield Choice("Edit", "edit")
        if len(self.asked.models) > 1:
            yield Choice("Model", "model")
        if self.asked.context:
            yield Choice("Include chat", "share")
        yield Choice("Deny", "deny")

    def _give(self, *, lasting: bool) -> None:
        messages: Json = None
        for area in self.query(Area):
            place = (area.id or "")[1:]
            if place.isdecimal() and area.changed is not None:
                messages = edited(messages or self.asked.messages, int(place), area.changed)
        system = self.query_one("#system", Area).changed
        model, shares = self.kept.values.get("model", ""), bool(self.kept.values.get("share"))
        answer = Reviewed("once", model=model, system=system, messages=messages, shares_chat=shares)
        self.give(replace(answer, verdict="chat") if lasting else answer)

    def action_once(self) -> None:
        """Allow it."""
        self._give(lasting=False)

    def action_chat(self) -> None:
        """Allow this server's samplings until the chat ends."""
        self._give(lasting=True)

    async def action_share(self) -> None:
        """Give it the chat, once; or not."""
        if self.asked.context:
            self.kept.values["share"] = not self.kept.values.get("share")
            await self._again()

    def action_model(self) -> None:
        """Choose another model."""
        known = {str(number): name for number, name in enumerate(self.asked.models[:9], 1)}

        async def again(key: str | None) -> None:
            if key is not None:
                self.kept.values["model"] = known[key]
                await self._again()

        if len(known) > 1:
            self.face.push_screen(AskKey(Content("Which model"), known), again)

    async def _again(self) -> None:
        warnings = self.query_one("#warnings")
        await warnings.remove_children()
        await warnings.mount(*self.warnings())
        self.query_one(".facts", Static).update(self._facts())


class CompletionDialog(Reviewing[Completion]):
    """Asks whether the server may have what the model said."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("completion")
    place = "completion"

    step = 1
    does = "gets this answer"

    def told(self) -> Iterable[Widget]:
        """Make the answer."""
        asked, face = self.asked, self.face
        yield Static(
            face.line(f"{asked.model}, {asked.tokens} tokens, {asked.stop}", "$muted"), classes="label", name="answer"
        )
        yield from self.marks(asked.text)
        yield self.area("answer", asked.text)
        for each in words.elements(asked.uses):
            yield para(drawn.row(("Uses\n", "$wait"), face.text("\n".join(words.lines_of(each)))))

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("Give it", "once", allows=True)
        yield Choice("Edit", "edit")
        yield Choice("Again", "again")
        yield Choice("Deny", "deny")

    def action_once(self) -> None:
        """Give it."""
        self.give(Reviewed("once", text=self.query_one("#answer", Area).changed))

    def action_again(self) -> None:
        """Let the model say it anew."""
        self.give(Reviewed("again"))
