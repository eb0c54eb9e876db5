"""What judging gives: measures, readings, verdicts, and the evaluation of one scenario."""
