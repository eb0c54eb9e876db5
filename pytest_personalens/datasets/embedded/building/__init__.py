"""Builds a dataset of a team's own domains: by hand, by a model, and drafts of tasks from stored chats."""
