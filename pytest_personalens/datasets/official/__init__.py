"""The official PersonaLens data."""
