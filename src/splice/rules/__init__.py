"""Rules for what is legal next. Pure: no clock, no sockets, no async."""
