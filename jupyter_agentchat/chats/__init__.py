"""What a person can ask for: chats, prompts, modes, trust."""
