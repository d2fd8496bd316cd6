"""`splice host`: many servers, one conversation, and a person in control.

Each command of the group is imported when it is called: `splice host mcp list` loads no model, no face and no database.
"""

from splice.cli.host_failing import Lazy, Row

command = Lazy(
    name="host",
    help="Let a model use the tools of many servers, with you in control.\n\n"
    "The servers are those of this folder (.mcp.json, .vscode/mcp.json, .cursor/mcp.json) and your own.",
    table={
        "chat": Row("splice.cli.host_chat:command", "Talk to a model that uses your servers."),
        "run": Row("splice.cli.host_run:command", "Say one thing, without anybody watching: for scripts and CI."),
        "web": Row("splice.cli.host_web:command", "Open the same on a web page of this machine."),
        "mcp": Row("splice.cli.host_mcp:command", "Add, list, test and trust servers."),
        "log": Row("splice.cli.host_log:command", "Show what happened, and why it was allowed."),
        "permissions": Row("splice.cli.host_permissions:command", "List and revoke what is always allowed or denied."),
        "models": Row("splice.cli.host_models:command", "List the models that can be chosen."),
    },
)
