"""What is legal next. Pure: no clock, no sockets, no async."""
