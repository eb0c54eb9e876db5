"""deepeval: 30 conversations by its simulator, then two metrics on each by `evaluate`.

Its settings for concurrency are max_concurrent of ConversationSimulator ("conversations simulated at once", 5
by default) and of AsyncConfig ("test cases evaluated in parallel", 20 by default): both are as high as they
can be of use here. An expected outcome would have it ask after each turn whether the conversation is over,
and criteria without steps would have it write the steps first: there are neither, so that it makes no more
calls than the others.
"""

from __future__ import annotations

from deepeval import evaluate
from deepeval.dataset import ConversationalGolden
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ConversationalGEval
from deepeval.simulator import ConversationSimulator
from deepeval.test_case import MultiTurnParams, Turn
from openai import AsyncOpenAI

DIALOGUES, TURNS, MODEL = 30, 4, "gpt-4.1"
STEPS = {
    "task completion": "Say whether the task was completed.",
    "personalization": "Say whether the assistant knew the user.",
}


def main() -> None:
    client = AsyncOpenAI()

    async def assistant(turns):
        said = [{"role": t.role, "content": t.content} for t in turns]
        answer = await client.chat.completions.create(model="assistant", messages=said)
        return Turn(role="assistant", content=answer.choices[0].message.content)

    simulator = ConversationSimulator(
        model_callback=assistant, simulator_model=MODEL, max_concurrent=DIALOGUES
    )
    goldens = [ConversationalGolden(scenario="Book a table for two on Friday.") for _ in range(DIALOGUES)]
    cases = simulator.simulate(goldens, max_user_simulations=TURNS)
    assert all(len(case.turns) == 2 * TURNS for case in cases)
    metrics = [
        ConversationalGEval(
            name=name, evaluation_params=[MultiTurnParams.CONTENT], evaluation_steps=[step], model=MODEL
        )
        for name, step in STEPS.items()
    ]
    result = evaluate(
        cases,
        metrics,
        async_config=AsyncConfig(max_concurrent=DIALOGUES),
        display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
        cache_config=CacheConfig(write_cache=False),
    )
    assert sum(len(r.metrics_data) for r in result.test_results) == len(STEPS) * DIALOGUES
    assert all(m.error is None for r in result.test_results for m in r.metrics_data)


if __name__ == "__main__":
    main()
