from agents import Agent, OpenAIChatCompletionsModel, function_tool, set_tracing_disabled
from openai import AsyncOpenAI


@function_tool
def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"


set_tracing_disabled(True)
model = OpenAIChatCompletionsModel(model="scripted", openai_client=AsyncOpenAI())
agent = Agent(name="bot", model=model, tools=[book_table])
