"""opencode: one `opencode serve` per server, driven over HTTP, heard through `feed`."""
