"""Docstrings in three styles give up what they say about parameters."""

from splice.schema.docstrings import parse
from support.tables import rows

GOOGLE = """Find things.

    Looks everywhere.

    Args:
        query: What to look for,
            in any words.
        limit (int, optional): How many: at most.
        deep (dict[str, list[int]]): Nested (brackets (here)).
        *rest: More.

        flag:
            On its own line.

    Returns:
        limit: not a parameter.
    """

NUMPY = """Find things.

    Parameters
    ----------
    query : str
        What to look for,
        in any words.
    limit, most : int, optional
        How many.

    *rest
        More.
    bare

    Returns
    -------
    list
        What was found.
    """

SPHINX = """Find things.

    :param query: What to look for,
        in any words.
    :param int limit: How many.
    :type query: str
    :param bare:
    :rtype: list
    :returns: What was found.
    """


@rows(
    ("text", "description", "parameters"),
    [
        (None, "", {}),
        ("", "", {}),
        ("One line.", "One line.", {}),
        (":param x: only", "", {"x": "only"}),
        ("First.\n\n    Second.\n", "First.\n\nSecond.", {}),
        (
            GOOGLE,
            "Find things.\n\nLooks everywhere.\n\nReturns:\n    limit: not a parameter.",
            {
                "query": "What to look for, in any words.",
                "limit": "How many: at most.",
                "deep": "Nested (brackets (here)).",
                "rest": "More.",
                "flag": "On its own line.",
            },
        ),
        (
            NUMPY,
            "Find things.\n\nReturns\n-------\nlist\n    What was found.",
            {
                "query": "What to look for, in any words.",
                "limit": "How many.",
                "most": "How many.",
                "rest": "More.",
                "bare": "",
            },
        ),
        (
            SPHINX,
            "Find things.\n\n:returns: What was found.",
            {"query": "What to look for, in any words.", "limit": "How many.", "bare": ""},
        ),
        ("Say.\n\nArgs:\n    no items here\n", "Say.", {}),
        ("Say.\n\nArgs:\n", "Say.", {}),
        ("Say.\n\nParameters:\n    x: one\nMore.", "Say.\n\nMore.", {"x": "one"}),
        (
            "Say.\n\nParameters\n----------\nx\n    one\nAnd some prose here.",
            "Say.\n\nAnd some prose here.",
            {"x": "one"},
        ),
        ("Say.\n\nParameters", "Say.\n\nParameters", {}),
        ("Say.\n\nParameters\n\nNo rule.", "Say.\n\nParameters\n\nNo rule.", {}),
        ("Say.\n\nArgs:\n  x: one\n\n  y: two\n\n\n\nEnd.", "Say.\n\nEnd.", {"x": "one", "y": "two"}),
        ("Note: this stays.\n\nExample:\n    x: kept", "Note: this stays.\n\nExample:\n    x: kept", {}),
    ],
)
def test_a_docstring_is_taken_apart(text: str | None, description: str, parameters: dict[str, str]) -> None:
    doc = parse(text)
    assert doc.description == description
    assert doc.parameters == parameters
