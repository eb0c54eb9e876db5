from booking import book_table
from strands import Agent, tool
from strands.models.openai import OpenAIModel


def make_agent() -> Agent:
    return Agent(model=OpenAIModel(model_id="scripted"), tools=[tool(book_table)], callback_handler=None)
