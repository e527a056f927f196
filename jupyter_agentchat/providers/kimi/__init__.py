"""Kimi Code, through the server that its own program starts (`kimi web`)."""
