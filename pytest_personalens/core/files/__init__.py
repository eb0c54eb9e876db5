"""Files: where they may lie, and how to read and write them safely."""
