"""The options of a run, the settings that they make, and the gates that they name."""
