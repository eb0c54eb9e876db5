"""What others return, in the form that this package reads: replies of frameworks, and memory stores.

Each function `from_...` gives the replies of a framework, with the tool calls in them, as OpenAI-shaped
messages: it takes what a framework returned for one turn and returns a list of messages, the last of which
is what the assistant says. Nothing is imported for it: the objects are read by their attributes. LangChain
and CrewAI need no function: `langchain_core.messages.convert_to_openai_messages(messages)` and
`output.messages` are such lists.

Each function `..._store` gives a `MemoryStore` for the fixture `personalens_memory_store`.
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
from pytest_personalens.adapters.stores import (
    agentcore_store,
    chromadb_store,
    langgraph_store,
    mem0_store,
    zep_store,
)

__all__ = [
    "agentcore_store",
    "chromadb_store",
    "from_adk",
    "from_agent_framework",
    "from_llama_index",
    "from_openai_agents",
    "from_pydantic_ai",
    "from_strands",
    "langgraph_store",
    "mem0_store",
    "zep_store",
]
