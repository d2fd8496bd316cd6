"""What is on the wire: pure data, no clock, no sockets."""
