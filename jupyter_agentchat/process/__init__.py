"""Child processes: starting, framing, stopping and finding them again. Knows nothing of chats."""
