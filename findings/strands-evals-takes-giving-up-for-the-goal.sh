#!/usr/bin/env bash
# Packages: strands-agents-evals 1.7.0 strands-agents 1.62.0 (Python 3.11)
# A good guess: a simulated user that leaves in anger ends the conversation with a stop_reason of its own, or
# with none; goal_completed means that the goal was reached.
# What happens: the simulator knows two reasons: whatever ends a conversation before the last turn is
# goal_completed, also where the user says that it gives up. Who counts completed goals by it counts every
# user who left.
# Output seen on 2026-11-29:
#   the table is booked: goal_completed
#   the user gives up: goal_completed
#   the user asks on in the last turn: max_turns

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check strands-agents-evals==1.7.0 strands-agents==1.62.0

cat > program.py <<'PY'
import json
from typing import Any

from strands.models.model import Model
from strands_evals.simulation import ActorSimulator
from strands_evals.types.simulation import ActorProfile


class Scripted(Model):
    """Plays the user: each answer is the form that the simulator asks for."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer

    def get_config(self) -> dict[str, Any]:
        return {}

    def update_config(self, **more: Any) -> None: ...

    async def structured_output(self, *given: Any, **more: Any) -> Any:
        yield {}

    async def stream(self, *given: Any, **more: Any) -> Any:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "1", "name": "ActorResponse"}}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(self.answer)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def ends(answer, turns):
    profile = ActorProfile(traits={}, context="Ann wants a table for two.", actor_goal="A booked table")
    query = "A table for two, please."
    user = ActorSimulator(profile, query, model=Scripted(answer), max_turns=turns)
    return user.act("We are closed for ever.").structured_output.stop_reason


served = {"reasoning": "The table is booked.", "stop": True, "message": None}
left = {"reasoning": "Nobody helps me. I give up.", "stop": True, "message": None}
asks = {"reasoning": "Not done yet.", "stop": False, "message": "Are you sure?"}
print("the table is booked:", ends(served, 5))
print("the user gives up:", ends(left, 5))
print("the user asks on in the last turn:", ends(asks, 1))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
the table is booked: goal_completed
the user gives up: goal_completed
the user asks on in the last turn: max_turns
END
)
[ "$seen" = "$expected" ]
