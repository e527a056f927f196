"""The words on the wire. Imports nothing of ours; everything else may import this."""
