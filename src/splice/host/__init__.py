"""The host: many servers, one conversation, and a person in control."""
