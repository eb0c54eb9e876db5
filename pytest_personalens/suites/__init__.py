"""The suites: what is asked, measured and drawn in each, as one value a module."""
