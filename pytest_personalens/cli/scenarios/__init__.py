"""Commands about datasets and scenarios."""
