"""Results as Markdown: a summary, a comment on a pull request, GitHub annotations."""
