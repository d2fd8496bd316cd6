"""The tools of all servers: their names, their definitions and how these change, their results."""
