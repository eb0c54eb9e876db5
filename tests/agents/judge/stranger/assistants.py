"""What the stranger's assistants reply, by a plain callable or by a LangGraph agent."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from pytest_personalens.core.dialogue.dialogue import AssistantMessages

#: In the order in which they should come out, the best first.
ASSISTANTS: Final = ("good", "impersonal", "bad")
Reply = Callable[[AssistantMessages], str]


@cache
def replies(assistant: str) -> dict[str, list[str]]:
    """Scenario id -> the replies to the user's first, second, ... message."""
    scenarios = tomllib.loads(Path(__file__).with_name(f"{assistant}.toml").read_text(encoding="utf-8"))
    return {scenario: [text.strip() for text in entry["replies"]] for scenario, entry in scenarios.items()}


def plain(assistant: str, scenario: str) -> Reply:
    """The assistant as a function of the messages."""
    texts = replies(assistant)[scenario]

    def reply(messages: AssistantMessages) -> str:
        return _in_turn(texts, sum(message["role"] == "user" for message in messages))

    return reply


def langgraph_agent(assistant: str, scenario: str, thread: str) -> Reply:
    """The same as a LangGraph agent that keeps the conversation `thread` itself.

    Raises `ImportError` without langgraph.
    """
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, MessagesState, StateGraph

    texts = replies(assistant)[scenario]

    def answer(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {
            "messages": [
                AIMessage(_in_turn(texts, sum(message.type == "human" for message in state["messages"])))
            ]
        }

    graph = StateGraph(MessagesState)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    agent = graph.compile(checkpointer=InMemorySaver())

    def reply(messages: AssistantMessages) -> str:
        # Only what is new: the agent remembers the rest.
        new = MessagesState(messages=[HumanMessage(messages[-1]["content"])])
        state = agent.invoke(new, {"configurable": {"thread_id": thread}})
        return str(state["messages"][-1].content)

    return reply


def _in_turn(texts: list[str], turn: int) -> str:
    return texts[min(turn, len(texts)) - 1]
