"""Sentences of people, and the call that each of them means: over the tools of `tools.json`, on 9 June 2027.

All were written before the rules that read them. No rule was changed for those under `HELD_BACK`. Of `ELSEWHERE`, whose
tools came last, the rules read 15 of 20 as they were.
"""

from typing import Any, NamedTuple

from splice.types import Tool, ToolAnnotations


class Said(NamedTuple):
    """A sentence, the tool it means, and its arguments. Arguments that are a set: the user is asked for these."""

    text: str
    tool: str
    arguments: dict[str, Any] | set[str]


FILES = [
    Said("List the files in docs", "filesystem__list_directory", {"path": "docs"}),
    Said("what is in the directory src/splice?", "filesystem__list_directory", {"path": "src/splice"}),
    Said("Read README.md", "filesystem__read_text_file", {"path": "README.md"}),
    Said("show me the file notes/todo.txt", "filesystem__read_text_file", {"path": "notes/todo.txt"}),
    Said("read the first 20 lines of CHANGELOG.md", "filesystem__read_text_file", {"path": "CHANGELOG.md", "head": 20}),
    Said("the last 5 lines of server.log", "filesystem__read_text_file", {"path": "server.log", "tail": 5}),
    Said("Create a directory named build", "filesystem__create_directory", {"path": "build"}),
    Said("make a folder trips/2027", "filesystem__create_directory", {"path": "trips/2027"}),
    Said(
        "Move notes.txt to archive/notes.txt",
        "filesystem__move_file",
        {"source": "notes.txt", "destination": "archive/notes.txt"},
    ),
    Said("rename a.txt to b.txt", "filesystem__move_file", {"source": "a.txt", "destination": "b.txt"}),
    Said(
        'Write "hello world" to greeting.txt',
        "filesystem__write_file",
        {"path": "greeting.txt", "content": "hello world"},
    ),
    Said("How large is data/big.csv?", "filesystem__get_file_info", {"path": "data/big.csv"}),
    Said("Find files named *.py in src", "filesystem__search_files", {"path": "src", "pattern": "*.py"}),
    Said(
        'search for files with the pattern "**/*.md" in docs',
        "filesystem__search_files",
        {"path": "docs", "pattern": "**/*.md"},
    ),
    Said("show the directory tree of examples", "filesystem__directory_tree", {"path": "examples"}),
    Said("which directories may you use?", "filesystem__list_allowed_directories", {}),
    Said("list docs with the sizes of its files", "filesystem__list_directory_with_sizes", {"path": "docs"}),
    Said("read the files a.txt and b.txt", "filesystem__read_multiple_files", {"paths": ["a.txt", "b.txt"]}),
    Said("look at the image logo.png", "filesystem__read_media_file", {"path": "logo.png"}),
    Said("Create a directory", "filesystem__create_directory", {"path"}),
]

GIT = [
    Said("git status of /home/ann/project", "git__git_status", {"repo_path": "/home/ann/project"}),
    Said(
        "show the last 5 commits in /home/ann/project",
        "git__git_log",
        {"repo_path": "/home/ann/project", "max_count": 5},
    ),
    Said("Which branches are there in ./project?", "git__git_branch", {"branch_type"}),
    Said(
        "list the remote branches of ./project", "git__git_branch", {"repo_path": "./project", "branch_type": "remote"}
    ),
    Said(
        "Create a branch named fix-login in ./project",
        "git__git_create_branch",
        {"repo_path": "./project", "branch_name": "fix-login"},
    ),
    Said(
        "switch to the branch main in ./project", "git__git_checkout", {"repo_path": "./project", "branch_name": "main"}
    ),
    Said(
        'commit in ./project with the message "Fix the login"',
        "git__git_commit",
        {"repo_path": "./project", "message": "Fix the login"},
    ),
    Said("stage a.py and b.py in ./project", "git__git_add", {"repo_path": "./project", "files": ["a.py", "b.py"]}),
    Said("show the staged changes in ./project", "git__git_diff_staged", {"repo_path": "./project"}),
    Said("unstage everything in ./project", "git__git_reset", {"repo_path": "./project"}),
    Said("show the unstaged changes of ./project", "git__git_diff_unstaged", {"repo_path": "./project"}),
    Said("git status", "git__git_status", {"repo_path"}),
]

WEATHER = [
    Said("What is the weather in Paris tomorrow?", "weather__checkWeather", {"city": "Paris", "date": "2027-06-10"}),
    Said("weather in New York today", "weather__checkWeather", {"city": "New York", "date": "2027-06-09"}),
    Said(
        "Check the weather in Barcelona from 15 June 2027 to 22 June 2027",
        "weather__checkWeather",
        {"city": "Barcelona", "date": "2027-06-15", "endDate": "2027-06-22"},
    ),
    Said("will it rain in Oslo on 2027-07-01?", "weather__checkWeather", {"city": "Oslo", "date": "2027-07-01"}),
    Said(
        "How is the weather in Madrid next Friday?", "weather__checkWeather", {"city": "Madrid", "date": "2027-06-18"}
    ),
    Said("weather for Tokyo on Saturday", "weather__checkWeather", {"city": "Tokyo", "date": "2027-06-12"}),
    Said("What is the weather like in Rome?", "weather__checkWeather", {"date"}),
    Said("weather in Lisbon in 3 days", "weather__checkWeather", {"city": "Lisbon", "date": "2027-06-12"}),
]

OFFICE = [
    Said(
        'Create a calendar event "Dentist" on 2027-06-20',
        "office__createCalendarEvent",
        {"title": "Dentist", "startDate": "2027-06-20", "endDate": "2027-06-20"},
    ),
    Said(
        "Add an event called Team lunch to my calendar tomorrow from 12:00 to 13:30",
        "office__createCalendarEvent",
        {"title": "Team lunch", "startDate": "2027-06-10T12:00", "endDate": "2027-06-10T13:30"},
    ),
    Said(
        "put 'Holiday' in my calendar from June 15 to June 22",
        "office__createCalendarEvent",
        {"title": "Holiday", "startDate": "2027-06-15", "endDate": "2027-06-22"},
    ),
    Said("cancel the calendar event 7", "office__cancelCalendarEvent", {"id": 7}),
    Said(
        "which dates are free between 2027-07-01 and 2027-07-31?",
        "office__listFreeDates",
        {"startDate": "2027-07-01", "endDate": "2027-07-31"},
    ),
    Said(
        'Send an email to ann@example.org with subject "Hi" and body "See you soon"',
        "office__sendEmail",
        {"to": "ann@example.org", "subject": "Hi", "body": "See you soon"},
    ),
    Said(
        'mail bob@example.org about Lunch saying "at noon?"',
        "office__sendEmail",
        {"to": "bob@example.org", "subject": "Lunch", "body": "at noon?"},
    ),
    Said("email ann@example.org", "office__sendEmail", {"subject", "body"}),
    Said(
        'set an out of office notice from 2027-06-15 to 2027-06-22 saying "I am away"',
        "office__setOutOfOffice",
        {"startDate": "2027-06-15", "endDate": "2027-06-22", "message": "I am away"},
    ),
]

TRAVEL = [
    Said(
        "Search flights from New York to Barcelona on 15 June 2027 for 2 people",
        "travel__searchFlights",
        {"origin": "New York", "destination": "Barcelona", "date": "2027-06-15", "travelers": 2},
    ),
    Said(
        "find direct flights from BCN to NYC tomorrow sorted by duration",
        "travel__searchFlights",
        {"origin": "BCN", "destination": "NYC", "date": "2027-06-10", "stops": 0, "sort": "duration"},
    ),
    Said(
        "what is the best flight from London to Rome on 2027-08-01?",
        "travel__findBestFlight",
        {"origin": "London", "destination": "Rome", "date": "2027-08-01"},
    ),
    Said(
        "hotels in Barcelona from 2027-06-15 to 2027-06-22 for 3 guests under $200",
        "travel__searchHotels",
        {"city": "Barcelona", "arrival": "2027-06-15", "departure": "2027-06-22", "guests": 3, "budget": 200},
    ),
    Said("look at booking K7Q2MXPA", "travel__getBooking", {"reference": "K7Q2MXPA"}),
    Said("cancel booking K7Q2MXPA", "travel__cancelBooking", {"reference": "K7Q2MXPA"}),
    Said(
        "write the itinerary of K7Q2MXPA to trips/bcn.md",
        "travel__writeItinerary",
        {"reference": "K7Q2MXPA", "file": "trips/bcn.md"},
    ),
    Said("Find flights to Rome", "travel__searchFlights", {"origin", "date"}),
]

MEMORY = [
    Said("What do you know about Ada?", "memory__search_nodes", {"query": "Ada"}),
    Said('search memory for "piano"', "memory__search_nodes", {"query": "piano"}),
    Said("read the whole graph", "memory__read_graph", {}),
    Said("forget the entities Ada and Bob", "memory__delete_entities", {"entityNames": ["Ada", "Bob"]}),
    Said("open the nodes Ada and Bob", "memory__open_nodes", {"names": ["Ada", "Bob"]}),
]

OTHERS = [
    Said("what time is it in Europe/Madrid?", "time__get_current_time", {"timezone": "Europe/Madrid"}),
    Said(
        "convert 14:30 from Europe/Madrid to America/New_York",
        "time__convert_time",
        {"source_timezone": "Europe/Madrid", "time": "14:30", "target_timezone": "America/New_York"},
    ),
    Said("fetch https://example.org/page", "fetch__fetch", {"url": "https://example.org/page"}),
    Said("read the web page https://example.org", "fetch__fetch", {"url": "https://example.org"}),
    Said("get https://example.org raw", "fetch__fetch", {"url": "https://example.org", "raw": True}),
]

SENTENCES = [*FILES, *GIT, *WEATHER, *OFFICE, *TRAVEL, *MEMORY, *OTHERS]

UNKNOWN = ["Sing me a song", "What is the meaning of life?", "hello", "qwertz", "order a pizza with mushrooms"]
"""Nothing is called for these: no tool fits."""

HELD_BACK: list[Said] = [
    Said("List what is in tests/data", "filesystem__list_directory", {"path": "tests/data"}),
    Said("please read docs/index.md for me", "filesystem__read_text_file", {"path": "docs/index.md"}),
    Said("move old.log to /tmp/old.log", "filesystem__move_file", {"source": "old.log", "destination": "/tmp/old.log"}),
    Said(
        "What will the weather be in Berlin on Monday?",
        "weather__checkWeather",
        {"city": "Berlin", "date": "2027-06-14"},
    ),
    Said(
        "I need a flight from Boston to Lisbon on July 4",
        "travel__searchFlights",
        {"origin": "Boston", "destination": "Lisbon", "date": "2027-07-04"},
    ),
    Said(
        "are there hotels in Rome from July 4 to July 9?",
        "travel__searchHotels",
        {"city": "Rome", "arrival": "2027-07-04", "departure": "2027-07-09"},
    ),
    Said("delete the calendar event 12", "office__cancelCalendarEvent", {"id": 12}),
    Said(
        "when am I free from 2027-09-01 to 2027-09-30?",
        "office__listFreeDates",
        {"startDate": "2027-09-01", "endDate": "2027-09-30"},
    ),
    Said("what did we commit in ./app lately?", "git__git_log", {"repo_path": "./app"}),
    Said("checkout the branch develop in ./app", "git__git_checkout", {"repo_path": "./app", "branch_name": "develop"}),
    Said("download https://example.com/a.html", "fetch__fetch", {"url": "https://example.com/a.html"}),
    Said("current time in Asia/Tokyo", "time__get_current_time", {"timezone": "Asia/Tokyo"}),
]


TEXT, WHOLE, NUMBER, SWITCH = ({"type": kind} for kind in ("string", "integer", "number", "boolean"))
TEXTS = {"type": "array", "items": TEXT}


def tool(name: str, about: str, reads: bool, required: list[str], **properties: Any) -> Tool:
    """Describe a tool."""
    schema = {"type": "object", "properties": properties, "required": required}
    return Tool(name=name, description=about, input_schema=schema, annotations=ToolAnnotations(read_only_hint=reads))


OTHER_TOOLS = [
    tool(
        "github__list_issues",
        "List the issues of a repository.",
        True,
        ["owner", "repo"],
        owner=TEXT,
        repo=TEXT,
        state={"type": "string", "enum": ["open", "closed", "all"]},
        limit=WHOLE,
    ),
    tool(
        "github__create_issue",
        "Create an issue in a repository.",
        False,
        ["owner", "repo", "title"],
        owner=TEXT,
        repo=TEXT,
        title=TEXT,
        body=TEXT,
    ),
    tool(
        "github__get_issue",
        "Get one issue by its number.",
        True,
        ["owner", "repo", "issue_number"],
        owner=TEXT,
        repo=TEXT,
        issue_number=WHOLE,
    ),
    tool(
        "slack__post_message",
        "Post a message to a channel.",
        False,
        ["channel", "text"],
        channel={"type": "string", "description": "Name of the channel"},
        text=TEXT,
    ),
    tool("slack__list_channels", "List the channels of the workspace.", True, [], limit=WHOLE),
    tool("notes__create_note", "Create a new note.", False, ["title", "content"], title=TEXT, content=TEXT, tags=TEXTS),
    tool("notes__search_notes", "Search notes by text.", True, ["query"], query=TEXT),
    tool("notes__delete_note", "Delete a note by its id.", False, ["id"], id=WHOLE),
    tool(
        "todo__add_task",
        "Add a task to the list.",
        False,
        ["title"],
        title=TEXT,
        due={"type": "string", "format": "date"},
        priority={"type": "string", "enum": ["low", "medium", "high"]},
    ),
    tool("todo__complete_task", "Mark a task as done.", False, ["task_id"], task_id=WHOLE),
    tool("todo__list_tasks", "List all tasks.", True, [], status={"type": "string", "enum": ["open", "done"]}),
    tool(
        "db__run_query",
        "Run a SQL query and return the rows.",
        True,
        ["sql"],
        sql={"type": "string", "description": "The SQL"},
    ),
    tool("db__list_tables", "List the tables of the database.", True, []),
    tool(
        "maps__directions",
        "Find the way from one place to another.",
        True,
        ["origin", "destination"],
        origin=TEXT,
        destination=TEXT,
        mode={"type": "string", "enum": ["driving", "walking", "cycling", "transit"]},
    ),
    tool("maps__geocode", "Find the coordinates of an address.", True, ["address"], address=TEXT),
    tool("shop__search_products", "Search for products in the shop.", True, ["query"], query=TEXT, max_price=NUMBER),
    tool(
        "translate__translate",
        "Translate a text into another language.",
        True,
        ["text", "target_language"],
        text=TEXT,
        target_language={"type": "string", "enum": ["German", "French", "Spanish"]},
    ),
    tool("home__set_light", "Switch a light on or off.", False, ["room", "on"], room=TEXT, on=SWITCH, brightness=WHOLE),
    tool(
        "currency__convert",
        "Convert an amount of money from one currency to another.",
        True,
        ["amount", "from", "to"],
        amount=NUMBER,
        **{"from": TEXT, "to": TEXT},
    ),
    tool("calc__add", "Add two numbers.", True, ["a", "b"], a=NUMBER, b=NUMBER),
]

ELSEWHERE = [
    Said("list the open issues", "github__list_issues", {"owner", "repo"}),
    Said(
        'post "deploy is done" to the channel general',
        "slack__post_message",
        {"text": "deploy is done", "channel": "general"},
    ),
    Said("which channels are there?", "slack__list_channels", {}),
    Said(
        'create a note titled Shopping with the content "milk, eggs"',
        "notes__create_note",
        {"title": "Shopping", "content": "milk, eggs"},
    ),
    Said('search my notes for "passport"', "notes__search_notes", {"query": "passport"}),
    Said("delete note 12", "notes__delete_note", {"id": 12}),
    Said(
        'add a task "Call Bob" due tomorrow with high priority',
        "todo__add_task",
        {"title": "Call Bob", "due": "2027-06-10", "priority": "high"},
    ),
    Said("complete task 3", "todo__complete_task", {"task_id": 3}),
    Said("show all tasks", "todo__list_tasks", {}),
    Said("list the done tasks", "todo__list_tasks", {"status": "done"}),
    Said('run the query "select 1"', "db__run_query", {"sql": "select 1"}),
    Said("what tables are in the database?", "db__list_tables", {}),
    Said(
        "directions from Berlin to Munich by transit",
        "maps__directions",
        {"origin": "Berlin", "destination": "Munich", "mode": "transit"},
    ),
    Said("how do I get from Rome to Naples?", "maps__directions", {"origin": "Rome", "destination": "Naples"}),
    Said(
        'search products for "headphones" under $50', "shop__search_products", {"query": "headphones", "max_price": 50}
    ),
    Said(
        'translate "good morning" into French',
        "translate__translate",
        {"text": "good morning", "target_language": "French"},
    ),
    Said("switch the light in the kitchen on", "home__set_light", {"room": "kitchen", "on": True}),
    Said("convert 100 from USD to EUR", "currency__convert", {"amount": 100, "from": "USD", "to": "EUR"}),
    Said("add 2 and 3", "calc__add", {"a": 2, "b": 3}),
    Said("get issue 42", "github__get_issue", {"owner", "repo"}),
]
