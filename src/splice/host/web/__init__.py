"""The web face: the board in a browser of this machine, and nothing from outside."""
