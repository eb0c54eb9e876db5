"""The drift of a judge since it was adopted."""
