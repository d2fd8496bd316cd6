"""The messages on the wire: pure data, no clock, no sockets."""
