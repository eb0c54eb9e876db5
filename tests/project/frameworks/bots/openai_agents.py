from agents import Agent, OpenAIChatCompletionsModel, function_tool, set_tracing_disabled
from booking import book_table
from openai import AsyncOpenAI

set_tracing_disabled(True)
model = OpenAIChatCompletionsModel(model="scripted", openai_client=AsyncOpenAI())
agent = Agent(name="bot", model=model, tools=[function_tool(book_table)])
