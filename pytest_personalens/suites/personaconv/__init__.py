"""PersonaConvBench: does an assistant foresee what a user says, and how it is received?"""
