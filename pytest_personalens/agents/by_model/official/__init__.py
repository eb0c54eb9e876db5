"""The official PersonaLens prompts, read from the user's own checkout.

They are filled and their answers are parsed as in the official code. This package contains none of them.
"""
