"""openevals: 30 simulated dialogues and their readings, all in one event loop.

Its documentation runs one simulation a call (README, "Multiturn Simulation") and knows no setting for
several; the asynchronous functions that it offers beside the others are gathered here, which is the highest
concurrency that it can have.
"""

from __future__ import annotations

import asyncio

from langchain_openai import ChatOpenAI
from openai import AsyncOpenAI
from openevals.llm import create_async_llm_as_judge
from openevals.simulators import create_async_llm_simulated_user, run_multiturn_simulation_async

DIALOGUES, TURNS = 30, 4


async def main() -> None:
    client, history = AsyncOpenAI(), {}

    async def app(inputs, *, thread_id, **kwargs):
        said = history.setdefault(thread_id, [{"role": "system", "content": "You are an assistant."}])
        said.append({"role": "user", "content": inputs["content"]})
        answer = await client.chat.completions.create(model="assistant", messages=said)
        said.append({"role": "assistant", "content": answer.choices[0].message.content})
        return said[-1]

    user = create_async_llm_simulated_user(
        system="You want a table for two on Friday.", client=ChatOpenAI(model="user")
    )
    judges = [
        create_async_llm_as_judge(
            judge=ChatOpenAI(model="judge"), prompt=f"{question}\n{{outputs}}", feedback_key=key
        )
        for key, question in (
            ("task_completion", "Was the task completed?"),
            ("personalization", "Did the assistant know the user?"),
        )
    ]
    results = await asyncio.gather(
        *(
            run_multiturn_simulation_async(app=app, user=user, trajectory_evaluators=judges, max_turns=TURNS)
            for _ in range(DIALOGUES)
        )
    )
    assert all(
        len(r["trajectory"]) == 2 * TURNS and [e["score"] for e in r["evaluator_results"]] == [True, True]
        for r in results
    )


if __name__ == "__main__":
    asyncio.run(main())
