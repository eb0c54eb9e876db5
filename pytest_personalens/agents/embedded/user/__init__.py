"""The embedded user: its voice, its answers, and what it does next."""
