"""Runs the items of one process: the run, its items, and evaluations before their turn."""
