"""Small datasets of every layout, in words of our own."""
