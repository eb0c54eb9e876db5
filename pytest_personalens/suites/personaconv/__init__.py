"""PersonaConvBench: the prediction of a user's replies and of their scores."""
