"""What a run finds of earlier ones: records, stored dialogues, and an interrupted run to go on from."""
