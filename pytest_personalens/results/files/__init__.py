"""Files of results: read, merged from shards, and put in the order of a history."""
