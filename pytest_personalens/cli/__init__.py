"""The commands: `python -m pytest_personalens COMMAND`."""
