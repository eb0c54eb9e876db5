"""Turns the messages of an assistant into what they do to a task: acts, typed values, and the state of each part."""
