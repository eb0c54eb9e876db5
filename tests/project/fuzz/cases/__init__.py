"""Cases of each kind of input."""
