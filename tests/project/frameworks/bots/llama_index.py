import os

from booking import book_table
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike

llm = OpenAILike(
    model="scripted",
    api_base=os.environ["OPENAI_BASE_URL"],
    api_key="test",
    is_chat_model=True,
    is_function_calling_model=True,
)
agent = FunctionAgent(tools=[book_table], llm=llm)
