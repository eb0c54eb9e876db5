from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from booking import book_table

agent = Agent(client=OpenAIChatCompletionClient(model="scripted"), tools=[book_table])
