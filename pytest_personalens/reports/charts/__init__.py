"""Where the marks of charts are."""
