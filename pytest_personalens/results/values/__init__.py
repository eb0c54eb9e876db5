"""The results of a run as values."""
