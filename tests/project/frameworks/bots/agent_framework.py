from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient


def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


agent = Agent(client=OpenAIChatCompletionClient(model="scripted"), tools=[book_table])
