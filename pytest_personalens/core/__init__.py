"""The values that the rest of the package works on, and `evaluate`.

`evaluate` makes one evaluation.
"""
