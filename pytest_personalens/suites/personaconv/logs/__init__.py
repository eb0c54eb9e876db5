"""Stored outputs: read, scored, and played as the assistant."""
