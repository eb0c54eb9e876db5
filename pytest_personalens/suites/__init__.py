"""What a run evaluates: one folder for each suite."""
