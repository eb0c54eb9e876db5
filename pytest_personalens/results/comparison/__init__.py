"""Compares scores: with a baseline, between controls, over trials."""
