"""A server that a person types: a command, an address, or JSON as other hosts have it."""

import re
import shlex
from typing import Any

import msgspec

from splice.host.text import one_line

_URL = re.compile(r"https?://", re.IGNORECASE)
_HOST = re.compile(r"https?://(?:mcp\.|www\.|api\.)?([a-z0-9-]+)", re.IGNORECASE)
_RUNNERS = re.compile(r"(?:npx|uvx|bunx|node|python[\d.]*|uv|pipx|docker)")
_AROUND = re.compile(r"^(?:mcp-server|server|mcp)[-_]|[-_](?:mcp-server|mcp|server)$")
_ENDS = re.compile(r"(?<=.)(?:@|==).*$|\.(?:py|js|mjs|ts|exe)$")

Made = list[tuple[str, dict[str, Any]]]
"""Entries, each with its name; the name may be empty."""


def entries(source: str) -> Made:
    """Read what was typed. Raises `ValueError`, whose text is for the user."""
    text = source.strip()
    if text.startswith("{"):
        return _named(text)
    if _URL.match(text):
        return [(suggested(text), {"url": text})]
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValueError("A quotation mark is not closed") from None
    if not words:
        raise ValueError("Write a command, an address or JSON")
    return [(suggested(text), {"command": words[0], "args": words[1:]})]


def _named(text: str) -> Made:
    try:
        known = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"This is not JSON: {one_line(str(error))}") from None
    if "command" in known or "url" in known:
        return [("", known)]
    try:
        servers = msgspec.convert(known.get("mcpServers", known.get("servers", known)), dict[str, dict[str, Any]])
    except msgspec.ValidationError:
        servers = {}
    if not servers:
        raise ValueError("It names no server")
    return list(servers.items())


def suggested(source: str) -> str:
    """Name what was typed: after the host of an address, or the program that a runner runs."""
    if found := _HOST.match(source):
        return found[1]
    words = [each for each in source.split() if not each.startswith("-")]
    if len(words) > 1 and _RUNNERS.fullmatch(words[0].rpartition("/")[2]):
        words = [each for each in words[1:] if each != "run"]
    name = words[0].rpartition("/")[2] if words else ""
    return _AROUND.sub("", _AROUND.sub("", _ENDS.sub("", name)))
