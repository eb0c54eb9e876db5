from booking import book_table
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

agent = create_agent(ChatOpenAI(model="scripted"), tools=[book_table])
