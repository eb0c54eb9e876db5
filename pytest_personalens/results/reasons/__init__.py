"""Why scores fell: reasons added up, and the worst dialogues."""
