"""The same tiny server, written once per peer in the way its own documentation shows, and bare responders."""
