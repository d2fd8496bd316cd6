"""What a command of the host raises."""


class HostError(Exception):
    """A command cannot be carried out. The message is for the user: what happened, where, and what to do."""
