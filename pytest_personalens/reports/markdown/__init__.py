"""Results as Markdown: a summary, the summary of a step, a comment on a pull request."""
