"""Measures the quality of posts: what they hold, how far guesses go, and what is irregular."""
