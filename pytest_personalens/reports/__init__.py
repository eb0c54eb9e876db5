"""Reports made from the results of a run."""
