"""Replies of frameworks, with the tool calls in them, as OpenAI-shaped messages.

Each function takes what a framework returned for one turn and returns a list of messages, the last of which
is what the assistant says. Nothing is imported for it: the objects are read by their attributes. LangChain
and CrewAI need no function: `langchain_core.messages.convert_to_openai_messages(messages)` and
`output.messages` are such lists.
"""

from __future__ import annotations

from pytest_personalens.adapters.frameworks import (
    from_adk,
    from_agent_framework,
    from_llama_index,
    from_openai_agents,
    from_pydantic_ai,
    from_strands,
)

__all__ = [
    "from_adk",
    "from_agent_framework",
    "from_llama_index",
    "from_openai_agents",
    "from_pydantic_ai",
    "from_strands",
]
