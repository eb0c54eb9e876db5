"""The suites, one value in each module. A suite defines its scenarios, its measures and its draw."""
