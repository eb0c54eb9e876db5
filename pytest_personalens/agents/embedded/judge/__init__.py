"""The readings of the embedded judge. How natural or coherent a dialogue is, needs a model."""
