"""Files of results: read, and merged from shards."""
