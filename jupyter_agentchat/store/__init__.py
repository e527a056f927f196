"""The log and the metadata of chats, durable before anyone sees them."""
