"""The official PersonaLens prompts: read from the user's own checkout, filled and parsed as its code does.

None of them is here.
"""
