#!/usr/bin/env bash
# Packages: pydantic-ai-slim 2.68.0 (Python 3.11)
# A good guess: an agent with a system_prompt sends it with every run; message_history is what was said
# before.
# What happens: with a history that is not empty the system prompt is not sent: it is taken to be in the
# history. A bot that keeps what user and assistant said, and hands that over as the history, runs without its
# rules from the second message on; instructions= are sent each time.
# Output seen on 2026-11-29:
#   system_prompt, 0 messages before: the rule is sent: True
#   system_prompt, 2 messages before: the rule is sent: False
#   instructions, 0 messages before: the rule is sent: True
#   instructions, 2 messages before: the rule is sent: True

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic-ai-slim==2.68.0

cat > program.py <<'PY'
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel

sent = []


def model(messages, info):
    sent.append((messages, info))
    return ModelResponse(parts=[TextPart("Yes.")])


RULE = "Never name a price."
stored = [ModelRequest(parts=[UserPromptPart("Hello")]), ModelResponse(parts=[TextPart("Hello!")])]
for name, agent in (
    ("system_prompt", Agent(FunctionModel(model), system_prompt=RULE)),
    ("instructions", Agent(FunctionModel(model), instructions=RULE)),
):
    for history in ([], stored):
        agent.run_sync("What does it cost?", message_history=history)
        messages, _ = sent[-1]
        parts = [part.content for message in messages for part in message.parts]
        rule = RULE in parts or messages[-1].instructions == RULE
        print(f"{name}, {len(history)} messages before: the rule is sent: {rule}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
system_prompt, 0 messages before: the rule is sent: True
system_prompt, 2 messages before: the rule is sent: False
instructions, 0 messages before: the rule is sent: True
instructions, 2 messages before: the rule is sent: True
END
)
[ "$seen" = "$expected" ]
