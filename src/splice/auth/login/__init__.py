"""A client logs in: flows that get tokens, what keeps them, and what sends them."""
