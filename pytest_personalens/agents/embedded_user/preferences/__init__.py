"""What the user likes, and what goes against it."""
