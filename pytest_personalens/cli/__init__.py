"""The commands: `personalens COMMAND`."""
