"""The wording of a statement as cues: its words without their topic, its forms and its classes of words."""
