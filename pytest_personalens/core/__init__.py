"""The values that the rest works on, the table of options, and `evaluate` for one evaluation."""
