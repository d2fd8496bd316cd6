"""Streamable HTTP: the MCP endpoint as an ASGI application, and a client's link to one."""
