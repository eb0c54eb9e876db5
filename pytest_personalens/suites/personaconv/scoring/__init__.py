"""Reads answers and scores them."""
