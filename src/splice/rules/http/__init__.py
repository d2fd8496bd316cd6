"""The rules that HTTP adds to MCP, without I/O: headers, statuses, and who may call."""
