"""Reads texts: typed values, statements with what they do, and facts that are affirmed or contradicted."""
