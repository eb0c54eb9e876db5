"""The reasons for scores."""
