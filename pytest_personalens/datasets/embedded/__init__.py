"""The embedded benchmark, and own datasets of its layout."""
