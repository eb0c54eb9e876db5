"""Tool calls and stored state, held against what was said."""
