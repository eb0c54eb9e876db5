from booking import book_table
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm

agent = LlmAgent(name="bot", model=LiteLlm(model="openai/scripted"), tools=[book_table])
