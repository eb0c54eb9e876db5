"""Dialogues in the exports of servers, of tracing and of other test tools, as messages in OpenAI's format."""
