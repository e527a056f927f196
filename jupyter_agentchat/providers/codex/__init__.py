"""Codex over its app server: one process for all chats, JSON-RPC over its standard streams.

MiniMax is a preset of the same adapter, shown as a provider of its own with a process of its own.
"""
