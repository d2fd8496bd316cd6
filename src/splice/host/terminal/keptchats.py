"""Commands about chats that are kept: rename one, delete one after a question."""

from textual.content import Content

from splice.host.items import Chat
from splice.host.terminal import drawn, words
from splice.host.terminal.asides import AskKey, AskLine
from splice.host.terminal.face import Face


def rename(app: Face, chat: Chat) -> None:
    """Ask for another title."""

    def named(title: str | None) -> None:
        if title:
            app.do(app.host.rename_chat(words.key_of(chat), title))

    app.push_screen(AskLine(Content("The title of this chat"), chat.title), named)


def delete(app: Face, chat: Chat) -> None:
    """Delete a chat, once the user said so again."""

    def answered(key: str | None) -> None:
        if key == "y":
            app.do(app.host.delete_chat(words.key_of(chat)), lambda _: app.tell("Deleted."))

    title = drawn.row("Delete ", app.line(chat.title or "untitled", "bold"), "? Nothing brings it back.")
    app.push_screen(AskKey(title, {"y": "deletes it"}), answered)
