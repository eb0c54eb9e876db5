"""Compares scores with a baseline, between controls and over trials."""
