"""The URL of a server, as errors and logs may show it."""

from urllib.parse import urlsplit


def shown_url(url: str) -> str:
    """Leave out user, password, query and fragment: they may be secrets. Raises `ValueError` for what is not a URL."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
