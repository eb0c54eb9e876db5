"""Gives a scenario its clock, the facts of its task, things that exist, hard limits and a history."""
