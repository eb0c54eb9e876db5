"""The values that everything else works on, and `evaluate`, which makes one evaluation."""
