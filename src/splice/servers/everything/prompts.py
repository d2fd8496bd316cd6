"""The prompts, and what completes the arguments of prompts and templates.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from typing import Annotated

from msgspec import Meta

from splice import Server
from splice.servers.everything.dynamic import MAX_ID, TEMPLATES, Kind, contents_of
from splice.types import Completion, EmbeddedResource, PromptMessage, TextContent

TEAMS = {
    "Engineering": ["Alice", "Bob", "Charlie"],
    "Sales": ["David", "Eve", "Frank"],
    "Marketing": ["Grace", "Henry", "Iris"],
    "Support": ["John", "Kim", "Lee"],
}


def simple_prompt() -> str:
    """Say one sentence. Shows a prompt without arguments."""
    return "This is a simple prompt without arguments."


def args_prompt(
    city: Annotated[str, Meta(description="Name of the city")],
    state: Annotated[str | None, Meta(description="Where the city is, if there are several")] = None,
) -> str:
    """Ask for the weather. Shows a prompt with an argument that may be left out."""
    return f"What's weather in {city}{f', {state}' if state else ''}?"


def completable_prompt(
    department: Annotated[str, Meta(description="The department; one that is proposed, or any other")],
    name: Annotated[str, Meta(description="Who is to lead it; proposed are those who work there")],
) -> str:
    """Put somebody in charge of a department. Shows completion: the first argument narrows the second."""
    return f"Please promote {name} to the head of the {department} team."


def resource_prompt(
    resourceType: Annotated[Kind, Meta(description="Whether the resource holds text or bytes")],
    resourceId: Annotated[int, Meta(description="Its number, from 1 on", ge=1, le=MAX_ID)],
) -> list[PromptMessage]:
    """Have a resource of this server analyzed. Shows a prompt that carries a resource."""
    text = (
        f"This prompt includes the {resourceType} resource with id: {resourceId}. "
        "Please analyze the following resource:"
    )
    contents = contents_of(resourceType, resourceId)
    return [
        PromptMessage(role="user", content=TextContent(text=text)),
        PromptMessage(role="user", content=EmbeddedResource(resource=contents)),
    ]


def complete_department(typed: str) -> Completion:
    """Propose departments."""
    return _beginning(TEAMS, typed)


def complete_name(typed: str, known: dict[str, str]) -> Completion:
    """Propose who works in the department."""
    return _beginning(TEAMS.get(known.get("department", ""), []), typed)


def complete_number(typed: str) -> Completion:
    """Say whether what was typed is the number of a resource."""
    fits = typed.isascii() and typed.isdecimal() and len(typed) < 11 and 1 <= int(typed) <= MAX_ID
    return Completion(values=[typed] if fits else [], total=int(fits), has_more=False)


def add(server: Server) -> None:
    """Add the prompts, and what completes arguments."""
    for fn, title in (
        (simple_prompt, "Simple prompt"),
        (args_prompt, "Arguments"),
        (completable_prompt, "Team management"),
        (resource_prompt, "A resource in a prompt"),
    ):
        server.add_prompt(fn, name=fn.__name__.replace("_", "-"), title=title, blocking=False)
    server.completion("completable-prompt", "department")(complete_department)
    server.completion("completable-prompt", "name")(complete_name)
    for target in ("resource-prompt", *TEMPLATES.values()):
        server.completion(target, "resourceId")(complete_number)


def _beginning(values: "dict[str, list[str]] | list[str]", typed: str) -> Completion:
    """Propose what begins with what was typed."""
    fitting = [each for each in values if each.casefold().startswith(typed.casefold())]
    return Completion(values=fitting, total=len(fitting), has_more=False)
