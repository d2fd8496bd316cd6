"""Files below the directories that it is allowed, and nothing else: `splice serve filesystem DIRECTORY ...`."""
