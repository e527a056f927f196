"""The version, stated once. Rooms take it from here, never from the package root."""

__version__ = "0.1.0"
