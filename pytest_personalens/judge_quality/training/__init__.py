"""Trains the embedded judge on labelled dialogues."""
