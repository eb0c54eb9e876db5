#!/usr/bin/env bash
# Packages: openai-agents 0.24.0, langgraph 1.2.24, strands-agents 1.62.0 (Python 3.11)
# A good guess: a turn whose model call raised an error leaves nothing in the memory, so a caller that asks
# again (a retry, a test that is run again) has one question and one answer in it, at least in one of three
# frameworks.
# What happens: each of the three has stored the question before the error came, and stores it again: the
# model is sent two equal messages of the user, and so is each later turn. Only a caller that takes the
# first one out, or goes on without a new message where the framework can, has a clean history.
# Output seen on 2026-11-29:
#   openai-agents: ['user', 'user', 'assistant']
#   langgraph: ['human', 'human', 'ai']
#   strands: ['user', 'user', 'assistant']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openai-agents==0.24.0 langgraph==1.2.24 strands-agents==1.62.0

cat > program.py <<'PY'
import asyncio

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, set_tracing_disabled
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from strands import Agent as StrandsAgent
from strands.models import Model as StrandsModel

SAID = "I like tea."


class Once:
    """Raises an error at the first call, and at no other."""

    def __init__(self):
        self.calls = 0

    def fail(self):
        self.calls += 1
        if self.calls == 1:
            raise ConnectionError("the model is down")


def twice(ask):
    for _ in range(2):
        try:
            ask()
        except ConnectionError:
            pass


class OpenAIModel(Model):
    once = Once()

    async def get_response(self, *args, **kwargs):
        self.once.fail()
        text = ResponseOutputText(type="output_text", text="Noted.", annotations=[])
        message = ResponseOutputMessage(
            id="m", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


set_tracing_disabled(True)
session, agent = SQLiteSession("ann"), Agent(name="bot", model=OpenAIModel())
twice(lambda: asyncio.run(Runner.run(agent, SAID, session=session)))
print("openai-agents:", [item["role"] for item in asyncio.run(session.get_items())])

once = Once()


def bot(state):
    once.fail()
    return {"messages": [("ai", "Noted.")]}


graph = StateGraph(MessagesState).add_node("bot", bot).add_edge(START, "bot").compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "ann"}}
twice(lambda: graph.invoke({"messages": [("user", SAID)]}, config))
print("langgraph:", [message.type for message in graph.get_state(config).values["messages"]])


class StrandsFake(StrandsModel):
    once = Once()

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *args, **kwargs):
        yield {}

    async def stream(self, *args, **kwargs):
        self.once.fail()
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "Noted."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


strands = StrandsAgent(model=StrandsFake(), callback_handler=None)
twice(lambda: strands(SAID))
print("strands:", [message["role"] for message in strands.messages])
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
openai-agents: ['user', 'user', 'assistant']
langgraph: ['human', 'human', 'ai']
strands: ['user', 'user', 'assistant']
END
)
[ "$seen" = "$expected" ]
