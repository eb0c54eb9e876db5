"""Whether verdicts follow the meaning of a dialogue and not its words."""
