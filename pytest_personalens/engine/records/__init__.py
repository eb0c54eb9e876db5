"""Records of evaluations: made, compared and replayed."""
