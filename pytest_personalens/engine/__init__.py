"""Does and records evaluations, one or many at the same time."""
