"""`splice host mcp`: which servers there are. The words are those that other hosts have for it."""

from splice.cli.host_failing import Lazy, Row

command = Lazy(
    name="mcp",
    help="Add, list, test and trust servers.",
    table={
        "add": Row("splice.cli.host_adding:add", "Add a server: NAME -- COMMAND, or NAME URL."),
        "add-json": Row("splice.cli.host_adding:add_json", "Add a server as it stands in a configuration file."),
        "import": Row("splice.cli.host_importing:command", "Take servers over from another host."),
        "list": Row("splice.cli.host_listing:command", "List the servers; none is started."),
        "get": Row("splice.cli.host_getting:command", "Show one server, as it is configured and as it was last seen."),
        "remove": Row("splice.cli.host_adding:remove", "Take a server out of its file."),
        "test": Row("splice.cli.host_testing:command", "Start a server, and say what it offers or why it fails."),
        "trust": Row("splice.cli.host_trusting:command", "Look at the command of a project's server, and trust it."),
        "accept": Row(
            "splice.cli.host_accepting:command", "Look at what a server changed of its tools, and accept it."
        ),
        "login": Row("splice.cli.host_logins:login", "Log in to a server with a browser."),
        "logout": Row("splice.cli.host_logins:logout", "Forget a login."),
    },
)
