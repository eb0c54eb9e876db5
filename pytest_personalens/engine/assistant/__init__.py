"""The assistant under test: imported, called within a time limit, and its state."""
