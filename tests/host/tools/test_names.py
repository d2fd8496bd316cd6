"""Names of tools for the model: legal, unique, and the same in every session where they do not collide."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.host.tools.names import MAX_REMEMBERED, Names

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")
NAME = st.text("a_.\u00e9", max_size=3) | st.sampled_from(["\x00", "\ud800", "s" * 40, "s" * 80, "a" * 53])
SERVERS = st.lists(st.tuples(NAME, st.lists(NAME, max_size=3)), max_size=5)


@pytest.mark.parametrize(
    ("server", "tool", "called"),
    [
        ("travel", "bookTrip", "travel__bookTrip"),
        ("my server", "a.b/c", "my_server__a_b_c"),
        ("\u5730\u56fe", "\x1b[31m", "____" + "_[31m".replace("[", "_")),
        ("", "", "__"),
        ("s" * 60, "search_all_of_the_flights", r"s{30}__search_all_of_the_flights_[0-9a-f]{6}"),
        ("server", "t" * 200, r"server__t{49}_[0-9a-f]{6}"),
        ("s" * 200, "t" * 200, r"s{20}__t{35}_[0-9a-f]{6}"),
    ],
)
def test_names_are_legal_and_say_what_they_are(server: str, tool: str, called: str) -> None:
    assert re.fullmatch(called, Names().give(server, [tool])[tool])


def test_whoever_comes_second_gets_the_suffix_and_the_first_one_keeps_its_name() -> None:
    names = Names()
    assert names.give("a", ["b__c", "x.y", "x_y"])["b__c"] == "a__b__c"
    second = names.give("a__b", ["c"])["c"]
    assert re.fullmatch("a__b__c_[0-9a-f]{6}", second)
    assert names.give("a", ["x_y"])["x_y"].startswith("a__x_y_")
    assert names.owner("a__b__c") == ("a", "b__c")
    assert names.owner(second) == ("a__b", "c")
    assert names.owner("nobody") is None
    names.give("a", [])
    assert names.give("a__b", ["c"])["c"] == second, "it stays while the other one is away"
    again = Names()
    again.give("a", ["b__c"])
    assert again.give("a__b", ["c"])["c"] == second, "and is the same in the next session"


def test_a_tool_that_is_called_like_the_suffix_of_another_does_not_get_its_calls() -> None:
    names = Names()
    names.give("a", ["x.y"])
    taken = Names()
    taken.give("a", ["x.y"])
    suffixed = taken.give("a", ["x_y"])["x_y"].removeprefix("a__")
    names.give("a", [suffixed])
    assert names.give("a", ["x_y"])["x_y"] != f"a__{suffixed}"


@given(SERVERS, st.randoms(use_true_random=False))
def test_in_any_order_names_are_unique_and_those_that_do_not_collide_the_same(
    servers: list[tuple[str, list[str]]], random: Random
) -> None:
    def given_in(order: list[tuple[str, list[str]]]) -> dict[tuple[str, str], str]:
        names = Names()
        given = {(server, tool): name for server, tools in order for tool, name in names.give(server, tools).items()}
        assert all(names.give(server, [tool])[tool] == name for (server, tool), name in given.items())
        assert all(names.owner(name) == key for key, name in given.items())
        return given

    first = given_in(servers)
    assert all(map(LEGAL.fullmatch, first.values()))
    assert len(set(first.values())) == len(first)
    second = given_in(random.sample(servers, len(servers)))
    plain = [re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}") for server, tool in first]
    for key, name in zip(first, plain, strict=True):
        if plain.count(name) == 1 and (len(name) > 64 or not re.search("_[0-9a-f]{6}$", name)):
            assert first[key] == second[key]


def test_a_server_that_renames_its_tools_for_ever_fills_no_memory() -> None:
    names = Names()
    names.give("a", ["stays"])
    for number in range(0, 3 * MAX_REMEMBERED, 1000):
        names.give("a", ["stays", *(f"tool{each}" for each in range(number, number + 1000))])
    assert names.owner("a__tool0") is None
    assert names.owner("a__stays") == ("a", "stays")
