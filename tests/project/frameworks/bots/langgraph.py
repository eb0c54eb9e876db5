from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


agent = create_agent(ChatOpenAI(model="scripted"), tools=[book_table])
