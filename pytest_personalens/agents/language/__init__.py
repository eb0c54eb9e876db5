"""Reads the texts of users and assistants: sentences, statements, values."""
