"""A server is guarded: who calls, and what they may do."""
