"""The embedded agents: a user, a judge, and the one reader of texts that both use. They need no model."""
