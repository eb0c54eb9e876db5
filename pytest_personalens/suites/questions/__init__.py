"""Questions over a history: the user asks one question, and the assistant answers once."""
