"""Tools are found by words: of their names, however these are written, and of what is said about them."""

import pytest

from splice.host.tools.search import Index, terms

TOOLS = {
    "travel/searchFlights": "Find flights between two cities on a date",
    "travel/bookTrip": "Book a trip that was found before",
    "weather/get_forecast": "Weather of the coming days in a city",
    "mail/send-mail": "Send a message to somebody",
    "files/HTTPServer2Log": "Read the log of the web server",
    "maps/\u5730\u56fe": "\u67e5\u627e\u57ce\u5e02\u7684\u5730\u56fe",
}
INDEX = Index((key, [(key.partition("/")[2], 3.0), (about, 1.0)]) for key, about in TOOLS.items())


@pytest.mark.parametrize(
    ("words", "best"),
    [
        ("flight", "travel/searchFlights"),
        ("please search a flight for me", "travel/searchFlights"),
        ("searchflights", "travel/searchFlights"),
        ("search_flight", "travel/searchFlights"),
        ("what is the weather in these cities?", "weather/get_forecast"),
        ("GET FORECASTS", "weather/get_forecast"),
        ("mail", "mail/send-mail"),
        ("http server", "files/HTTPServer2Log"),
        ("\u57ce\u5e02", "maps/\u5730\u56fe"),
    ],
)
def test_the_tool_that_is_meant_comes_first(words: str, best: str) -> None:
    assert INDEX.search(words, 3)[0][0] == best


@pytest.mark.parametrize("words", ["", "the of and", "xyzzy", "\x00\ud800", "_" * 100, "a" * 100_000])
def test_words_that_say_nothing_find_nothing(words: str) -> None:
    assert INDEX.search(words, 3) == []


def test_there_may_be_nothing_to_find() -> None:
    assert Index([]).search("flight", 3) == []
    assert Index([("a", []), ("b", [("", 1.0)])]).search("flight", 3) == []


def test_equals_keep_their_order_and_no_more_come_than_asked() -> None:
    index = Index((f"tool{number}", [("search", 1.0)]) for number in range(20))
    assert [key for key, _ in index.search("search", 3)] == ["tool0", "tool1", "tool2"]
    assert index.search("search", 0) == []


def test_words_of_names_are_split() -> None:
    assert list(terms("getHTTPResponse2")) == ["http", "response", "2", "gethttpresponse2"]
    assert list(terms("The boxes of companies and glasses")) == ["box", "company", "glass"]
