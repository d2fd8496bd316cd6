"""Offers features: what an author of a server uses."""
