"""The conftest.py of the repositories that tests run in, each a file of its own."""
