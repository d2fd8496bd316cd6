"""The user leaves while questions wait: they are denied, once that was said."""

from functools import partial

from textual.content import Content

from splice.host.items import Question
from splice.host.terminal.asides import AskKey
from splice.host.terminal.face import Face
from splice.host.terminal.refusals import refusal


def leave(app: Face) -> None:
    """Quit. Questions that wait are denied, if the user says so."""
    count = len(app.host.board.all(Question))
    if not count:
        app.exit(0)
        return

    def left(key: str | None) -> None:
        if key == "q":
            deny_all(app)
            app.exit(0)

    said = f"{count} wait{'s' * (count == 1)} for you."
    app.push_screen(AskKey(Content(said), {"q": "denies them and quits"}), left)


def deny_all(app: Face) -> None:
    """Deny what waits, as nobody will answer it."""
    for each in app.host.board.all(Question):
        app.now(partial(app.host.answer, each.id, refusal(each.asked, "the user left"), "terminal"))
