"""Configuration files: the servers that a person, or a project, wants to use."""
