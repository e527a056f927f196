"""Google's Antigravity, by its command-line program `agy`: one process a turn."""
