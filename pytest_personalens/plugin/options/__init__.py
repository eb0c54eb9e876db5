"""Options and marks: declared to pytest, checked, and read into settings."""
