"""Inputs with something wrong in them: files, data and texts."""
