"""Turns: the model speaks and calls, and what it is told."""
