from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm


def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


agent = LlmAgent(name="bot", model=LiteLlm(model="openai/scripted"), tools=[book_table])
