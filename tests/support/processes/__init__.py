"""Runs of pytest, of commands and of the official code in processes of their own."""
