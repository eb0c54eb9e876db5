"""Statistics for few scores: intervals, paired tests, and detectable drops."""
