"""Any agent that speaks the Agent Client Protocol over stdio, described by configuration alone."""
