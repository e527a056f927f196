"""The door: the only Tornado code. Authenticate, authorise, hand over."""
