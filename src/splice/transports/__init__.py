"""Moves bytes. The first layer with asyncio."""
