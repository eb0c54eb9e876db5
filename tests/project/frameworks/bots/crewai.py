from booking import book_table
from crewai import LLM, Agent
from crewai.tools import tool

agent = Agent(
    role="bot", goal="help", backstory="none", llm=LLM(model="gpt-4o"), tools=[tool("book_table")(book_table)]
)
