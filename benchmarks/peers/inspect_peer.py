"""inspect-ai: a task of 30 samples, whose solver plays user and assistant in turn, with two model-graded
scorers.

Its settings for concurrency ("Parallelism" in its documentation) are max_samples, the samples run at once,
and max_connections, the calls in flight to one model: both are as high as they can be of use here.
"""

from __future__ import annotations

import tempfile

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver

DIALOGUES, TURNS = 30, 4
QUESTIONS = ("Was the task completed?", "Did the assistant know the user?")
TEMPLATE = (
    "{asked}\n\n[Conversation]\n{{question}}\n[Criterion]\n{{criterion}}\n[Last"
    " reply]\n{{answer}}\n\n{{instructions}}"
)


@solver
def simulation():
    async def solve(state, generate):
        user = get_model(role="user")
        state.messages = [ChatMessageSystem(content="You are an assistant.")]
        for _ in range(TURNS):
            # The simulated user sees the conversation from its side.
            seen = [
                (
                    ChatMessageUser(content=m.text)
                    if m.role == "assistant"
                    else ChatMessageAssistant(content=m.text)
                )
                for m in state.messages[1:]
            ]
            start = [
                ChatMessageSystem(content="You want a table for two on Friday."),
                ChatMessageUser(content="Begin."),
            ]
            said = await user.generate([*start, *seen])
            state.messages.append(ChatMessageUser(content=said.completion))
            state = await generate(state)
        return state

    return solve


def model(name):
    # The endpoint speaks chat completions, the lighter of the two protocols that inspect knows for OpenAI.
    return get_model(f"openai/{name}", responses_api=False)


def main() -> None:
    scorers = [
        model_graded_qa(template=TEMPLATE.format(asked=asked), include_history=True) for asked in QUESTIONS
    ]
    samples = [Sample(input="Book a table.", target="A table is booked.") for _ in range(DIALOGUES)]
    task = Task(dataset=samples, solver=simulation(), scorer=scorers)
    with tempfile.TemporaryDirectory() as folder:
        logs = evaluate(
            task, model=model("assistant"), model_roles={"user": model("user"), "grader": model("judge")},
            max_samples=DIALOGUES, max_connections=2 * DIALOGUES, display="none", log_dir=folder,
        )  # fmt: skip
        assert logs[0].status == "success", logs[0].error
        assert all(score.value == "C" for sample in logs[0].samples for score in sample.scores.values())
        assert all(len(sample.messages) == 1 + 2 * TURNS for sample in logs[0].samples)


if __name__ == "__main__":
    main()
