"""What the scores of few scenarios can carry: intervals, tests of a drop, and how small a drop a test can find."""
