"""Results of any kind, and an independent count of their tables."""
