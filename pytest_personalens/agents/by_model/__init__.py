"""The user agent, the judge and the assistant that a language model plays."""
