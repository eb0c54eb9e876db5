"""How the user speaks."""
