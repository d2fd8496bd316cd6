"""Tools for testing servers and clients."""
