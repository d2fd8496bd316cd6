"""The connections to servers: one client each, started when it is needed."""
