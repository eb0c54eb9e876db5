"""A suite as a value: what its items are, how they run, and what a page shows of them."""
