"""The official prompts, read from a user's own checkout, filled and parsed as in the official code."""
