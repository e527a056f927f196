"""The `jupyter agentchat` command: chat from a terminal, through a running server or its own."""
