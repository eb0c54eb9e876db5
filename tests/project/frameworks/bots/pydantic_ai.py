from booking import book_table
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel("scripted"))
agent.tool_plain(book_table)
