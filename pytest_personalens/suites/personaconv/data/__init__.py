"""Posts: how they are read and indexed, and which items they give."""
