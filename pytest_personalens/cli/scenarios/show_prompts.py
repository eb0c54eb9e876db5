"""The command ``show-prompts``: the prompts of a model that plays the user, the judge or the assistant."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_agents import ModelAgents, PromptSettings
from pytest_personalens.cli.command import argument_type, command
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import PersonalensError, SpecError
from pytest_personalens.core.judging.dimensions import dimensions
from pytest_personalens.core.text.parse import letters
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.datasets import open_dataset
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets.base import Dataset
    from pytest_personalens.models import Answer, Request

_ROLES: Final = ("user", "assistant", "judge")
#: A placeholder for the dialogue: its first two turns.
_TALK: Final = (
    Message(role="user", content="(what the user said)"),
    Message(role="assistant", content="(what the assistant said)"),
)


class _Seen(PersonalensError):
    """Ends a call to the model after its request is recorded."""


class _Listener:
    """A model that records its requests and answers nothing."""

    paid = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Answer:
        self.requests.append(request)
        raise _Seen("taken down")


@command("show-prompts", {"letters": argument_type(letters)})
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 for a scenario, a template or an option that does not exist."""
    settings = PromptSettings(options.protocol, options.prompts, options.official_bugs, options.user_agent)
    agents = ModelAgents(settings, Path.cwd())
    scenario = find_scenario(open_dataset(options.data, base=Path.cwd()), options.scenario)
    requests = [
        each for role in options.role or _ROLES for each in _requests(role, agents, scenario, options)
    ]
    for title, request in requests:
        print(*map(harmless, _lines(title, request)), sep="\n")
    return 0


def find_scenario(dataset: Dataset, item_id: str) -> Scenario:
    """Return the scenario with this id, such as ``movies-1-user7``. Raise `SpecError` if there is none."""
    # An id nearly always ends with the id of its user, so the scenarios of that user are searched first.
    users = sorted(dataset.users(), key=lambda user: not item_id.endswith(user.lower()))
    for user in users:
        for ref in dataset.refs(user):
            if ref.id == item_id:
                scenario: Scenario = dataset.load(ref)
                return scenario
    example = dataset.refs(users[0])[0].id if users and dataset.refs(users[0]) else "none"
    raise SpecError(
        f"no scenario {item_id!r} in dataset {dataset.name!r}; an id is that of a test item, such as"
        f" {example}",
        code="PL106",
    )


def _requests(
    role: str, agents: ModelAgents, scenario: Scenario, options: argparse.Namespace
) -> Iterator[tuple[str, Request]]:
    """Yield each request to a role with its title, in the order of a dialogue."""
    model, meter = _Listener(options.model), Meter()

    def sent(ask: Callable[[], object]) -> Request:
        try:
            ask()
        except PersonalensError:  # the error of the model, as a fault of the role
            if not model.requests:
                raise
        return model.requests.pop()

    if role == "user":
        user = agents.user_agent(model, meter, options.manner)
        yield "user: opening", sent(lambda: user.turn(scenario, ()))
        yield "user: every later message", sent(lambda: user.turn(scenario, _TALK))
    elif role == "assistant":
        assistant = agents.assistant(
            model, meter, setting=options.assistant_prompt, context=scenario.context(options.context)
        )
        said = [{"role": m.role, "content": m.content} for m in (*_TALK, _TALK[0])]
        yield (
            f"assistant: {options.assistant_prompt}, context {options.context or 'none'}",
            sent(lambda: assistant(said)),
        )
    else:
        judge = agents.judge(model, meter)
        for dimension in dimensions(options.dimensions.split(",")):
            request = sent(partial(judge.verdict, scenario, Dialogue(messages=_TALK), dimension))
            yield f"judge: {dimension.value.replace('_', ' ')}", request


def _lines(title: str, request: Request) -> Iterator[str]:
    form = ", answered through a tool where the model has them" if request.answer is not None else ""
    yield f"=== {title} (temperature {request.temperature:g}, at most {request.max_tokens} tokens{form})"
    if request.system:
        yield from ("--- system", *request.system.split("\n"))
    for role, text in (*request.history, ("user", request.prompt)):
        yield from (f"--- {role}", *text.split("\n"))
    yield ""
