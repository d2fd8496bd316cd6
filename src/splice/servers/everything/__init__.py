"""A server that shows every feature of the protocol, for trying out clients: `splice serve everything`."""
