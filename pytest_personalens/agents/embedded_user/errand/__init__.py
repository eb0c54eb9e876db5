"""A user who checks the work against the facts of the task: its answers, objections and requests."""
