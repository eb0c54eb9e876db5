"""Whether a judge still reads frozen dialogues as it did when it was adopted, and whose doing it is that a run's scores moved."""
