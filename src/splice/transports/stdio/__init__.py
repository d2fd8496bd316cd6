"""MCP over the stdin and stdout of a process: serving on our own, and running a server as a child."""
