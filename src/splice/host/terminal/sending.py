"""What becomes of a line that was written: a message, a prompt with its arguments, or the form of a prompt."""

from splice.host.items import Prompt, Tool
from splice.host.terminal import prompts
from splice.host.terminal.composer import Composer, Offer, prompt_offers, ranked, tool_offers
from splice.host.terminal.face import Face
from splice.host.terminal.prompting import PromptDialog
from splice.host.terminal.resources import ResourcesPanel
from splice.host.terminal.saying import Saying


def send(app: Face, composer: Composer, text: str) -> None:
    """Say a text. One that begins with the name of a prompt opens its form, unless nothing is missing."""
    composer.empty()
    if not text.startswith("/"):
        wanted = [each.id for each in app.host.board.all(Tool) if f"#{each.server}/{each.name}" in text.split()]
        app.say(Saying(text, tool=wanted[0] if wanted else ""))
        return
    named = prompts.parse(text)
    found = prompts.find(app.host.board, named.name)
    if len(found) != 1:
        app.tell(f"There is no prompt /{named.name}, or several servers have it.", "warning")
        composer.load_text(text)
    elif named.arguments and not prompts.missing(found[0], named.arguments):
        app.say(Saying(named.rest, f"{found[0].server}/{found[0].name}", named.arguments))
    else:
        open_prompt(app, found[0].id, named.arguments, named.rest)


def begin(app: Face, text: str) -> None:
    """Let the user look at a line before it is sent: as the form of the prompt that it names, else where one writes."""
    named = prompts.parse(text)
    found = prompts.find(app.host.board, named.name) if text.startswith("/") else []
    if len(found) == 1 and found[0].arguments:
        open_prompt(app, found[0].id, named.arguments, named.rest)
    else:
        app.compose_text(text)


def open_prompt(app: Face, id: str, arguments: dict[str, str], rest: str) -> None:
    """Open the form of a prompt; one without arguments is said at once."""
    prompt = app.host.board.get(id, Prompt)
    if prompt is None:
        return
    if prompt.arguments:
        app.push_screen(PromptDialog(prompt, arguments, rest))
    else:
        app.say(Saying(rest, f"{prompt.server}/{prompt.name}"))


def offers(app: Face, wanted: Composer.Wanted) -> list[Offer]:
    """List what fits the word that is being written."""
    known: list[Offer] = []
    if wanted.sign == "/":
        known = prompt_offers(app)
    elif wanted.sign == "#":
        known = tool_offers(app)
    elif wanted.sign == "@":
        known = app.screen_stack[0].query_one(ResourcesPanel).offers()
    return ranked(known, wanted.word)
