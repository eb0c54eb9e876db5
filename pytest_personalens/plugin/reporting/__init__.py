"""The controlling process: results, gates, files and the summary."""
