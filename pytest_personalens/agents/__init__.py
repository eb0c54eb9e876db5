"""The agents that play the user, the judge and the assistant: some are embedded, language models play others."""
