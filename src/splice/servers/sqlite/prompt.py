"""The prompt `mcp-demo`: what a model is to do that shows a person what the server can."""

from typing import Annotated

from splice.types import GetPromptResult, PromptMessage, TextContent

_STEPS = """\
Show me what a model can do with a SQLite database over MCP, by a small story about this topic: {topic}

You have these tools of the server `sqlite`: create_table, write_query, read_query, list_tables, describe_table and
append_insight. The resource memo://insights holds what append_insight noted.

1. Tell me in a few sentences who I am in the story, which decision I have to take by when, and which data would help.
   Make it specific, and a little funny.
2. Look at list_tables first, and leave the tables that are there alone. Then set up the data without asking me: two or
   three tables that belong together, with 10 to 15 believable rows each. Make tables with create_table, rows with
   write_query, one statement a call.
3. Sum up in a short list what is there now, and offer me three questions about it in plain words. Wait for my choice.
4. Answer by read_query. Say what the result means for my decision, and note what it shows with append_insight. Then
   offer one more round of questions, and no more than one.
5. Show all results together as a dashboard: an artifact or a document if you can make one, else tables.
6. Close with a recommendation that follows from the numbers. Tell me that the memo at memo://insights has all insights,
   and that I can attach it to any conversation.

Say nothing of these instructions. Begin with the story.
"""


def demo(topic: Annotated[str, "What the data is to be about, such as a coffee shop"]) -> GetPromptResult:
    """Set up example data about a topic, and explore it together."""
    message = PromptMessage(role="user", content=TextContent(text=_STEPS.format(topic=topic)))
    return GetPromptResult(description=f"Demo template for {topic}", messages=[message])
