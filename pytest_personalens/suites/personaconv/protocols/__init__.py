"""Items and requests, by each protocol."""
