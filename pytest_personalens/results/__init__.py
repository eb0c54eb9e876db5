"""The results of a run as one value, and what follows from them: means, comparisons, gates."""
