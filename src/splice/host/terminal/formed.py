"""A form of fields in a dialog: checked when a field is left and when it is sent."""

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from splice.host.asked import Json
from splice.host.asking.forms import Field, check, fields, written
from splice.host.terminal import drawn
from splice.host.terminal.face import face
from splice.host.terminal.inputs import FieldBox


class Formed(Vertical):
    """The fields of a schema. Raises `BadForm` if it has none that can be shown."""

    def __init__(self, schema: Json, values: Mapping[str, Json], *, for_tool: bool = False) -> None:
        super().__init__(classes="formed")
        self._schema, self._for_tool = schema, for_tool
        self.fields: list[Field] = fields(schema, for_tool=for_tool)
        self._first = values

    def compose(self) -> ComposeResult:
        """Make the fields."""
        for field in self.fields:
            yield FieldBox(field, self._first.get(field.name, field.default))
        yield Static(classes="count")

    def on_mount(self) -> None:
        """Begin at the first field."""
        for box in self.query(FieldBox):
            box.focus_control()
            return

    def typed(self) -> dict[str, Json]:
        """Return what stands in the controls, for a draft."""
        return {box.field.name: box.typed() for box in self.query(FieldBox)}

    def values(self) -> tuple[dict[str, Json], dict[str, str]]:
        """Read the fields: the values that there are, and what is wrong, by field."""
        values: dict[str, Json] = {}
        wrong: dict[str, str] = {}
        for box in self.query(FieldBox):
            try:
                value = box.value()
            except ValueError as error:
                wrong[box.field.name] = str(error).rstrip(".")
                continue
            if value is not None:
                values[box.field.name] = value
        found = check(self._schema, values, for_tool=self._for_tool)
        return values, {name: why.rstrip(".") for name, why in found.items()} | wrong

    def check_all(self) -> dict[str, Json] | None:
        """Show all that is wrong and go to the first of it; None: nothing may be sent yet."""
        values, wrong = self.values()
        for box in self.query(FieldBox):
            box.show(wrong.get(box.field.name, ""))
        self._count(wrong)
        if not wrong:
            return values
        for box in self.query(FieldBox):
            if box.field.name in wrong:
                box.focus_control()
                break
        return None

    def on_field_box_left(self, event: FieldBox.Left) -> None:
        """Check a field that was left, and count what is wrong."""
        event.stop()
        if self.is_attached:
            _, wrong = self.values()
            event.box.show(wrong.get(event.box.field.name, ""))
            self._count({name: why for name, why in wrong.items() if name})

    def _count(self, wrong: Mapping[str, str]) -> None:
        said = Content()
        if wrong:
            named = ", ".join(name or wrong[""] for name in wrong)
            count = f"{len(wrong)} field{'s' * (len(wrong) > 1)} to mend"
            told = face(self).line(f"before this can be sent: {named}. Nothing has left yet.", "$muted")
            said = drawn.row((count, "$error"), " ", told)
        self.query_one(".count", Static).update(said)

    def review(self, values: Mapping[str, Json]) -> Content:
        """Draw all values, as they will be sent."""
        width = max((len(field.title) for field in self.fields), default=0)
        lines: list[Content] = []
        for field in self.fields:
            value = written(field, values[field.name]) if field.name in values else "empty"
            name = drawn.fit(face(self).line(field.title, "$muted"), min(width, 24) + 2)
            lines.append(drawn.row(name, face(self).text(value)))
        return drawn.rows(lines)
