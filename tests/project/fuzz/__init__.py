"""The project's own fuzzer: seeded, mutated inputs over all files, options and fixtures (``make fuzz``)."""
