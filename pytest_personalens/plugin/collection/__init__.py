"""Collects the items of a sample, with the built-in suite."""
