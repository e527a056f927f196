"""What is happening now: the hub, runs, subscribers, asks."""
