"""Finds what is wrong with a dataset, and measures it, for the command ``check-dataset``."""
