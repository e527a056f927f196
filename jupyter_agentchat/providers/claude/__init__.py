"""Claude Code over its bidirectional stream-json protocol: launch, wire, translate, adapter."""
