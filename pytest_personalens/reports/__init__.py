"""Results as text, Markdown, HTML and GitHub annotations."""
