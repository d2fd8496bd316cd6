"""Authorization servers: they register clients, ask users, and issue tokens."""
