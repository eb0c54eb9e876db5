"""What the statements of a dialogue do, and what becomes of goals by them."""
