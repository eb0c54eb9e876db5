"""What the embedded user says, by rules: its voice, its openings and its answers."""
