from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


def make_agent() -> Agent:
    return Agent(model=OpenAIModel(model_id="scripted"), tools=[book_table], callback_handler=None)
