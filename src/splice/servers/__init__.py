"""Reference servers: what people run first. Each is a package of its own, and loads nothing of another.

    splice serve NAME ...
    python -m splice.servers.NAME ...

In every package `__main__.py` holds the command with its settings, and `server.py` the function `make`, which takes the
same settings as keyword arguments and returns a `Server`.
"""
