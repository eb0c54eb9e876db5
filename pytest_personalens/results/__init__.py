"""The results of a run as one value, with means, comparisons and gates."""
