"""Gates over a whole run, which make CI fail."""
