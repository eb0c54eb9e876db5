"""Tool calls and stored state, held against the parts of a task."""
