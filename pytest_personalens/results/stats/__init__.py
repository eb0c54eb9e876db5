"""Statistics of few scores: intervals, paired tests, and the smallest drop that a test finds."""
