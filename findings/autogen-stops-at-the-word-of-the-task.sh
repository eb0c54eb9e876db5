#!/usr/bin/env bash
# Packages: autogen-agentchat 0.7.5, autogen-ext 0.7.5 (Python 3.11)
# A good guess: a team with TextMentionTermination('APPROVE') ends when an agent says APPROVE; a task that
# tells the agents to say it when they are content starts the dialogue.
# What happens: the task counts: the team ends before an agent has spoken, and the stop_reason is that APPROVE
# was mentioned. 'DISAPPROVED' ends it too. Who reads the stop_reason as consent counts both as approved. With
# sources= the task no longer counts, and 'DISAPPROVED' still does.
# Output seen on 2026-11-29:
#   Write. Critic, say APPROVE when content. {}: ['user'], Text 'APPROVE' mentioned
#   Write. Critic, say APPROVE when content. {'sources': ['critic']}: ['user', 'writer', 'critic', 'writer'], Maximum number of messages 4
#   Write. {}: ['user', 'writer'], Text 'APPROVE' mentioned
#   Write. {'sources': ['critic']}: ['user', 'writer', 'critic'], Text 'APPROVE' mentioned

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check autogen-agentchat==0.7.5 autogen-ext==0.7.5

cat > program.py <<'PY'
import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.replay import ReplayChatCompletionClient


async def run(task, reply, **options):
    agents = [AssistantAgent(name, model_client=ReplayChatCompletionClient([reply, reply])) for name in ("writer", "critic")]
    ends = TextMentionTermination("APPROVE", **options) | MaxMessageTermination(4)
    result = await RoundRobinGroupChat(agents, termination_condition=ends).run(task=task)
    print(f"{task} {options}: {[message.source for message in result.messages]}, {result.stop_reason.split(' reached')[0]}")


asyncio.run(run("Write. Critic, say APPROVE when content.", "Not yet."))
asyncio.run(run("Write. Critic, say APPROVE when content.", "Not yet.", sources=["critic"]))
asyncio.run(run("Write.", "DISAPPROVED"))
asyncio.run(run("Write.", "DISAPPROVED", sources=["critic"]))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
Write. Critic, say APPROVE when content. {}: ['user'], Text 'APPROVE' mentioned
Write. Critic, say APPROVE when content. {'sources': ['critic']}: ['user', 'writer', 'critic', 'writer'], Maximum number of messages 4
Write. {}: ['user', 'writer'], Text 'APPROVE' mentioned
Write. {'sources': ['critic']}: ['user', 'writer', 'critic'], Text 'APPROVE' mentioned
END
)
[ "$seen" = "$expected" ]
