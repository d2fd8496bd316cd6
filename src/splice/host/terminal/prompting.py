"""The form of a prompt: its arguments with completion, a preview of its messages, and sending it."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from splice.host.items import Context, Prompt
from splice.host.terminal import drawn
from splice.host.terminal.completing import Complete, Completing
from splice.host.terminal.dialog import Choice, Dialog, para
from splice.host.terminal.keys import bindings
from splice.host.terminal.prompts import missing
from splice.host.terminal.saying import Saying
from splice.types import PromptMessage, PromptReference


class PromptDialog(Dialog):
    """Asks for the arguments of a prompt."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("prompt")
    place = "prompt"
    guarded = frozenset({"send"})

    def __init__(self, prompt: Prompt, arguments: dict[str, str], rest: str) -> None:
        super().__init__()
        self.prompt = prompt
        self._first, self._rest = arguments, rest

    def heading(self) -> Content:
        """Draw which prompt of whom."""
        face, prompt = self.face, self.prompt
        whose = f"{prompt.title or prompt.name} {face.glyphs.dot} {prompt.server}"
        return drawn.row(face.line(f"/{prompt.name}", "bold"), "  ", face.line(whose, "$muted"))

    def told(self) -> Iterable[Widget]:
        """Make the fields."""
        face = self.face
        yield para(face.text(self.prompt.description))
        for each in self.prompt.arguments:
            needed = ("  required", "$wait") if each.is_required else ("", "")
            told = face.line(each.description, "$muted")
            name = drawn.row(face.line(each.title or each.name, "bold"), "  ", told, needed)
            box = Completing(each.name, self._first.get(each.name, ""), self._completer(each.name))
            yield Vertical(Static(name, classes="label"), box, classes="field")
        attached = face.host.board.get("context:now", Context)
        if attached is not None and attached.attached:
            names = "  ".join(f"{face.glyphs.picked} {each.name or each.uri}" for each in attached.attached)
            yield para(drawn.row(("\nResources  ", "$muted"), face.line(names)))
        yield Static(id="preview")

    def _completer(self, name: str) -> Complete:
        prompt = self.prompt

        async def complete(value: str) -> list[str]:
            known = {key: typed for key, typed in self.values().items() if key != name}
            ref = PromptReference(name=prompt.name)
            return await self.face.host.complete(prompt.server, ref, name, value, known)

        return complete

    def on_mount(self) -> None:
        """Begin at the first field that is empty."""
        boxes = list(self.query(Completing))
        for box in [each for each in boxes if not each.value] or boxes:
            box.query_one(Input).focus()
            return

    def values(self) -> dict[str, str]:
        """Return what was typed; fields that are empty are not sent."""
        return {box.key: box.value for box in self.query(Completing) if box.value}

    def choices(self) -> Iterable[Widget]:
        """Make the choices."""
        yield Choice("Send", "send")
        yield Choice("Preview", "preview")
        yield Choice("Edit as text", "text")

    def _is_whole(self) -> bool:
        gaps = missing(self.prompt, self.values())
        if gaps:
            self.face.tell(f"Still empty: {', '.join(gaps)}.", "warning")
            for box in self.query(Completing):
                if box.key == gaps[0]:
                    box.query_one(Input).focus()
        return not gaps

    def on_input_submitted(self) -> None:
        """Go to the next field; Enter sends nothing."""
        self.face.action_focus_next()

    def action_send(self) -> None:
        """Send it."""
        if self._is_whole():
            face, name, values = self.face, f"{self.prompt.server}/{self.prompt.name}", self.values()
            self.dismiss(None)
            face.say(Saying(self._rest, name, values))

    def action_preview(self) -> None:
        """Show the messages as they will be sent."""
        if self._is_whole():
            self.face.do(self.face.host.preview(self.prompt.server, self.prompt.name, self.values()), self._show)

    def _show(self, messages: list[PromptMessage]) -> None:
        lines = [drawn.row((f"{each.role}  ", "$muted"), self.face.text(_text(each))) for each in messages]
        self.query_one("#preview", Static).update(drawn.rows([Content(), *lines]))
        self.call_after_refresh(self.body.scroll_end, animate=False)

    def action_text(self) -> None:
        """Put the messages into the composer, to be edited there."""

        def put(messages: list[PromptMessage]) -> None:
            face = self.face
            self.dismiss(None)
            face.compose_text("\n\n".join(map(_text, messages)))

        if self._is_whole():
            self.face.do(self.face.host.preview(self.prompt.server, self.prompt.name, self.values()), put)


def _text(message: PromptMessage) -> str:
    content = message.content
    text = getattr(content, "text", None)
    return text if isinstance(text, str) else f"({content.__class__.__name__})"
