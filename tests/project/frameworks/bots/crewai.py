from crewai import LLM, Agent
from crewai.tools import tool


@tool("book_table")
def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


agent = Agent(role="bot", goal="help", backstory="none", llm=LLM(model="gpt-4o"), tools=[book_table])
