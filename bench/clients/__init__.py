"""The same loop of tool calls, written once per peer with its own client."""
