"""Measures a judge by its agreement with labels and its drift."""
