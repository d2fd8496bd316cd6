"""The prompt `ask-database`: examples of questions and the statements that answer them, then the user's question."""

from splice.types import PromptMessage, TextContent

_RULES = """\
You answer questions about a PostgreSQL database with the tools of this server.

1. Find the tables: list_tables, then describe_table for those you need. Use names exactly as they are written there.
2. Write one statement, run it with `query`, and answer from its rows. Say so if the rows do not answer the question.
3. Let the database count and sum. Name the columns you need, add a LIMIT where many rows may come.
4. For a statement over large tables, look at `explain` first.

The examples are about another database: tables customer(id, name, city) and purchase(id, customer_id, at, total).

These tables are there now:
{tables}"""

_EXAMPLES = (
    (
        "Who are our five best customers?",
        (
            "SELECT c.name, sum(p.total) AS spent FROM customer c JOIN purchase p ON p.customer_id = c.id "
            "GROUP BY c.id, c.name ORDER BY spent DESC LIMIT 5"
        ),
    ),
    (
        "Did we sell more in March than in February?",
        (
            "SELECT date_trunc('month', at) AS month, count(*) AS sales, sum(total) AS revenue FROM purchase "
            "WHERE at >= '2026-02-01' AND at < '2026-04-01' GROUP BY month ORDER BY month"
        ),
    ),
    (
        "Which customers in Oslo never bought anything?",
        (
            "SELECT c.name FROM customer c WHERE c.city = 'Oslo' "
            "AND NOT EXISTS (SELECT FROM purchase p WHERE p.customer_id = c.id) ORDER BY c.name"
        ),
    ),
    (
        "How is the typical purchase per city?",
        (
            "SELECT c.city, percentile_cont(0.5) WITHIN GROUP (ORDER BY p.total) AS median, count(*) AS purchases "
            "FROM purchase p JOIN customer c ON c.id = p.customer_id GROUP BY c.city ORDER BY purchases DESC"
        ),
    ),
)


def few_shot(question: str, tables: str) -> list[PromptMessage]:
    """Write the conversation that leads to a question."""
    messages = [PromptMessage(role="user", content=TextContent(text=_RULES.format(tables=tables)))]
    for asked, statement in _EXAMPLES:
        messages.append(PromptMessage(role="user", content=TextContent(text=asked)))
        messages.append(PromptMessage(role="assistant", content=TextContent(text=f"query(sql={statement!r})")))
    messages.append(PromptMessage(role="user", content=TextContent(text=question)))
    return messages
