"""What is kept: the log of what happened, and the chats."""
