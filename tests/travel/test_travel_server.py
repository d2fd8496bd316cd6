"""The travel server: searches, the model's choice, resources, completion and the prompt, in both eras."""

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples.travel import travel

from splice.errors import InvalidParams, ResourceNotFound
from splice.types import (
    CreateMessageParams,
    EmbeddedResource,
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    TextContent,
)
from travel.agency import BACK, THERE, TODAY, agency, client_of

ERAS = ["modern", "legacy"]
WAY = {"origin": "NYC", "destination": "Barcelona", "date": THERE}


@pytest.mark.parametrize("era", ERAS)
async def test_flights_and_hotels_are_found(tmp_path: Path, era: str) -> None:
    async with client_of(agency(tmp_path), era) as client:
        found = await client.call_tool("searchFlights", WAY)
        everything = (await client.call_tool("searchFlights", {**WAY, "limit": 50})).structured_content
        direct = await client.call_tool("searchFlights", {**WAY, "stops": 0, "sort": "duration", "travelers": 3})
        jfk = (await client.call_tool("searchFlights", {**WAY, "origin": "JFK", "limit": 50})).structured_content
        stay = {"city": "BCN", "arrival": THERE, "departure": BACK}
        hotels = await client.call_tool("searchHotels", {**stay, "limit": 3})
        cheap = (await client.call_tool("searchHotels", {**stay, "guests": 3, "budget": 400})).structured_content
        tools = {tool.name: tool for tool in await client.list_tools()}
    lines = found.text.splitlines()
    assert lines[0].startswith("New York (NYC) to Barcelona (BCN) on 2027-06-15: 47 options by price, 10 of them shown")
    assert found.structured_content["total"] == everything["total"] == len(everything["options"]) == 47
    prices = [float(option["price"]) for option in everything["options"]]
    assert prices == sorted(prices)
    assert lines[1].startswith(found.structured_content["options"][0]["id"])
    assert {option["stops"] for option in direct.structured_content["options"]} == {0}
    assert all(option["seatsLeft"] >= 3 for option in direct.structured_content["options"])
    assert 0 < jfk["total"] < 47
    assert {option["flights"][0]["origin"] for option in jfk["options"]} == {"JFK"}
    assert hotels.text.startswith("Barcelona, 2027-06-15 to 2027-06-22, 7 nights, 2 guests: ")
    assert cheap["roomsNeeded"] == 2
    assert all(float(room["night"]) <= 400 for hotel in cheap["hotels"] for room in hotel["rooms"])
    annotations = tools["searchFlights"].annotations
    assert annotations is not None
    assert annotations.read_only_hint is True
    assert tools["searchFlights"].input_schema["properties"]["date"] == {
        "type": "string",
        "format": "date",
        "description": "Travel date",
    }


async def test_the_page_shows_what_is_answered(tmp_path: Path) -> None:
    page = (Path(travel.__file__).parent / "README.md").read_text()
    async with client_of(agency(tmp_path), "modern") as client:
        found = await client.call_tool("searchFlights", {**WAY, "limit": 2})
        tools = await client.list_tools()
    assert textwrap.indent(found.text, "    ") in page
    for tool in tools:
        assert f"`{tool.name}(" in page
        assert all(argument in page for argument in tool.input_schema["properties"])


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("searchFlights", {"date": "2024-06-15"}, f"2024-06-15 is in the past: today is {TODAY}. Give a date from"),
    ("searchFlights", {"date": "2028-06-15"}, "sold until 2028-01-10"),
    ("searchFlights", {"date": "June"}, "date: expected date such as 2026-01-31"),
    ("searchFlights", {"destination": "Barcelonna"}, "Did you mean Barcelona?"),
    ("searchFlights", {"destination": "\x1b[31m"}, r"No destination '\x1b[31m' is known"),
    ("searchFlights", {"destination": "Park City"}, "the nearest is Salt Lake City (SLC)"),
    ("searchFlights", {"destination": "JFK"}, "both origin and destination"),
    ("searchFlights", {"limit": 500}, "limit"),
    ("findBestFlight", {"origin": "Atlantis"}, "No origin 'Atlantis' is known"),
    ("searchHotels", {"city": "Oslo", "arrival": THERE, "departure": THERE}, "0 nights; it must have 1 to 30"),
    ("searchHotels", {"city": "Oslo", "arrival": THERE, "departure": "2027-08-15"}, "61 nights"),
    ("bookFlight", {"flight": "NYC-BCN-20270615-99"}, "There is no flight"),
    ("bookFlight", {"flight": "NYC-BCN-20260615-02"}, "in the past"),
    ("bookHotel", {"hotel": "ritz", "arrival": THERE, "departure": BACK}, "Take the id of a hotel"),
    ("getBooking", {"reference": "NOTHING1"}, "There is no booking 'NOTHING1'"),
    ("cancelBooking", {"reference": "NOTHING1"}, "There is no booking 'NOTHING1'"),
]


async def test_what_is_wrong_is_said_so_that_a_model_can_try_again(tmp_path: Path) -> None:
    async with client_of(agency(tmp_path), "modern") as client:
        for tool, given, said in WRONG:
            way = WAY if tool in {"searchFlights", "findBestFlight"} else {}
            result = await client.call_tool(tool, {**way, **given})
            assert result.is_error
            assert said in result.text


def choice(*numbers: int) -> str:
    return json.dumps({"best": [{"number": number, "reason": f"it is\nnumber {number}"} for number in numbers]})


@pytest.mark.parametrize("era", ERAS)
async def test_the_model_chooses_out_of_47(tmp_path: Path, era: str) -> None:
    asked: list[CreateMessageParams] = []

    def answer(question: CreateMessageParams) -> str:
        asked.append(question)
        return "The second one." if len(asked) == 1 else choice(5, 2, 47)

    async with client_of(agency(tmp_path), era, on_sample=answer) as client:
        result = await client.call_tool("findBestFlight", WAY)
    best = result.structured_content
    assert [each["option"]["id"] for each in best["best"]] == [f"NYC-BCN-20270615-{n}" for n in ("05", "02", "47")]
    assert best["best"][0]["reason"] == "it is number 5"
    assert (best["considered"], best["rankedBy"]) == (47, "model")
    assert result.text.splitlines()[1] == "Chosen by the client's model out of 47 options."
    question = asked[0].messages[0].blocks[0]
    text = question.text if question.type == "text" else ""
    assert text.startswith("Analyze these flight options and recommend the best choice:\n1. ")
    assert "\n47. " in text
    assert "\n48. " not in text
    assert "User preferences: morning departure, max 1 layover" in text
    assert asked[0].system_prompt == (
        "You are a travel expert helping users find the best flights based on their preferences"
    )
    preferences = asked[0].model_preferences
    assert preferences is not None
    assert preferences.hints is not None
    assert (preferences.cost_priority, preferences.speed_priority, preferences.intelligence_priority) == (0.3, 0.2, 0.9)
    assert [hint.name for hint in preferences.hints] == ["claude-3-5-sonnet"]
    assert asked[0].max_tokens == 1500


def refuses(_: CreateMessageParams) -> str:
    raise InvalidParams("The user rejected the request")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (None, "This client has no model to ask; ranked by fixed rules"),
        (lambda _: "I do not know.", "no usable answer"),
        (lambda _: choice(7, 7, 8), "no usable answer (it chose the options 7, 7, 8)"),
        (lambda _: choice(1, 2, 48), "no usable answer (it chose the options 1, 2, 48)"),
    ],
)
async def test_without_a_choice_of_the_model_rules_choose_and_say_so(
    tmp_path: Path, era: str, answer: Callable[[CreateMessageParams], str] | None, note: str
) -> None:
    options: dict[str, Any] = {} if answer is None else {"on_sample": answer}
    async with client_of(agency(tmp_path), era, **options) as client:
        result = await client.call_tool("findBestFlight", {**WAY, "travelers": 2, "preferences": "cheap"})
    best = result.structured_content
    assert (best["rankedBy"], best["preferences"], len(best["best"])) == ("rules", "cheap", 3)
    assert note in best["note"]
    assert best["note"] in result.text
    assert all(each["option"]["seatsLeft"] >= 2 for each in best["best"])
    assert "options are cheaper" in best["best"][0]["reason"]


async def test_a_user_who_does_not_let_the_model_be_asked_gets_the_rules(tmp_path: Path) -> None:
    """Only a legacy client can answer with an error."""
    async with client_of(agency(tmp_path), "legacy", on_sample=refuses) as client:
        best = (await client.call_tool("findBestFlight", WAY)).structured_content
    assert best["rankedBy"] == "rules"


@pytest.mark.parametrize("era", ERAS)
async def test_resources_are_listed_and_read(tmp_path: Path, era: str) -> None:
    async def read(uri: str) -> Any:
        (contents,) = (await client.read_resource(uri)).contents
        text = contents.text or ""
        return json.loads(text) if contents.mime_type == "application/json" else text

    async with client_of(agency(tmp_path), era) as client:
        listed = {resource.uri for resource in await client.list_resources()}
        templates = {template.uri_template: template for template in await client.list_resource_templates()}
        fares = await read("travel://flights/NYC/Barcelona%20%28BCN%29")
        museums = await read("travel://activities/barcelona/museums")
        europe = await read("travel://preferences/europe")
        spain = await read("travel://past-trips/Spain-2023")
        story = await read("trips://history/barcelona-2023")
        assert await read("trips://history/BARCELONA-2023") == story
        for uri in (
            "travel://flights/NYC/nowhere",
            "travel://flights/NYC/JFK",
            "travel://activities/barcelona/chess",
            "travel://preferences/atlantis",
            "travel://past-trips/Mars-2023",
            "trips://history/Mars-2023",
        ):
            with pytest.raises((ResourceNotFound, InvalidParams)):
                await read(uri)
    assert {"travel://preferences/europe", "travel://past-trips/Spain-2023", "trips://history/barcelona-2023"} <= listed
    assert len(templates) == 5
    flights = templates["travel://flights/{origin}/{destination}"]
    assert (flights.name, flights.title, flights.mime_type) == ("flight-search", "Flight Search", "application/json")
    assert (fares["optionsPerDay"], len(fares["cheapestFares"])) == (47, 14)
    assert museums[0]["name"] == "Museu Picasso"
    assert europe["departure"] == "morning departure"
    assert spain["cities"] == ["Madrid", "Barcelona"]
    assert story.startswith("# Barcelona, the second week\n")


async def test_what_is_typed_is_completed(tmp_path: Path) -> None:
    async def complete(target: str, argument: str, typed: str, **known: str) -> list[str]:
        is_template = "://" in target
        reference = ResourceTemplateReference(uri=target) if is_template else PromptReference(name=target)
        return (await client.complete(reference, argument, typed, known)).values

    async with client_of(agency(tmp_path), "modern") as client:
        flights, activities = "travel://flights/{origin}/{destination}", "travel://activities/{city}/{category}"
        both = ["Barcelona (BCN)", "Barbados (BGI)"]
        assert await complete(flights, "destination", "Bar", origin="NYC") == both
        assert await complete(flights, "destination", "Bar", origin="Barcelona (BCN)") == ["Barbados (BGI)"]
        assert await complete(flights, "origin", "new") == ["New York (NYC)"]
        assert await complete(activities, "city", "Par") == ["Paris", "Park City"]
        assert await complete(activities, "category", "b", city="Barcelona") == ["beaches"]
        assert await complete(activities, "category", "b", city="Paris") == []
        assert await complete("travel://preferences/{region}", "region", "ca") == ["caribbean"]
        assert await complete("travel://past-trips/{trip}", "trip", "sp") == ["Spain-2023"]
        assert await complete("trips://history/{trip}", "trip", "BAR") == ["barcelona-2023", "barbados-2025"]
        assert await complete("plan-vacation", "destination", "Osl") == ["Oslo"]
        assert await complete("plan-vacation", "interests", "food, mu") == ["food, museums"]


def text_of(block: Any) -> str:
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("era", ERAS)
async def test_the_prompt_carries_resources_and_steps(tmp_path: Path, era: str) -> None:
    given = {"destination": "Barcelona", "departure_date": THERE, "return_date": BACK, "budget": "3000"}
    given |= {"travelers": "2", "interests": '["beaches", "architecture", "food"]'}
    async with client_of(agency(tmp_path), era) as client:
        (prompt,) = await client.list_prompts()
        messages = (await client.get_prompt("plan-vacation", given)).messages
        short = (
            await client.get_prompt("plan-vacation", {"destination": "Oslo", "interests": "food, ,museums"})
        ).messages
        for wrong, said in (
            ({"destination": "Atlantis"}, "No city 'Atlantis'"),
            ({"destination": "Oslo", "departure_date": "2020-01-01"}, "in the past"),
            ({"destination": "Oslo", "interests": "[food"}, "is no list"),
            ({"destination": "Oslo", "interests": "[" * 3000}, "is no list"),
            ({"destination": "Oslo", "budget": "[" * 3000}, "budget: expected"),
            ({"destination": "Oslo", "departure_date": BACK, "return_date": THERE}, "-7 nights"),
        ):
            with pytest.raises(InvalidParams, match=said):
                await client.get_prompt("plan-vacation", wrong)
    names = ["destination", "departure_date", "return_date", "duration", "budget", "travelers", "interests"]
    assert [argument.name for argument in prompt.arguments or []] == names
    assert [argument.name for argument in prompt.arguments or [] if argument.required] == ["destination"]
    blocks = [message.content for message in messages]
    assert text_of(blocks[0]) == (
        f"Plan a vacation in Barcelona, Spain, from {THERE} to {BACK}. Travelers: 2. Duration: 7 days. "
        "Budget: $3,000.00 for everything. Interests: beaches, architecture, food."
    )
    embedded = [block.resource.uri for block in blocks if isinstance(block, EmbeddedResource)]
    assert embedded == ["travel://preferences/europe"] + [
        f"travel://activities/barcelona/{each}" for each in ("beaches", "architecture", "food")
    ]
    links = [block.uri for block in blocks if isinstance(block, ResourceLink)]
    assert links == ["trips://history/Spain-2023", "trips://history/barcelona-2023"]
    assert "bookTrip" in text_of(blocks[-1])
    assert [message.role for message in messages].count("assistant") == 1
    assert text_of(short[0].content).endswith(
        "on dates that we still have to find. Travelers: 1. Interests: food, museums."
    )
