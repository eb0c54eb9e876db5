"""The command ``python -m pytest_personalens show-prompts SCENARIO``.

It prints the prompts of a model that plays the user, the judge or the assistant.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_agents import ModelAgents, PromptSettings
from pytest_personalens.cli.command import Parser, errors_told, value_of
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import PersonalensError, SpecError
from pytest_personalens.core.judging.dimensions import dimensions
from pytest_personalens.core.text.parse import letters
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.datasets import open_dataset
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets.base import Dataset
    from pytest_personalens.models import Completion, Request

ROLES: Final = ("user", "assistant", "judge")
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

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        raise _Seen("taken down")


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, or 4 for a scenario, a template or an option that does not exist.
    """
    options = _parser().parse_args(arguments)
    settings = PromptSettings(options.protocol, options.prompts, options.official_bugs, options.user_agent)
    agents = ModelAgents(settings, Path.cwd())
    scenario = find_scenario(open_dataset(options.data, base=Path.cwd()), options.scenario)
    shown = [part for role in options.role or ROLES for part in _requests(role, agents, scenario, options)]
    for title, request in shown:
        print(*(harmless(line) for line in _lines(title, request)), sep="\n")
    return 0


def find_scenario(dataset: Dataset, wanted: str) -> Scenario:
    """Return the scenario with this id, such as ``movies-1-user7``.

    Raise `SpecError` if there is none.
    """
    # An id nearly always ends with the id of its user, so the scenarios of that user are searched first.
    users = sorted(dataset.users(), key=lambda user: not wanted.endswith(user.lower()))
    for user in users:
        for ref in dataset.refs(user):
            if ref.id == wanted:
                scenario: Scenario = dataset.load(ref)
                return scenario
    example = dataset.refs(users[0])[0].id if users and dataset.refs(users[0]) else "none"
    raise SpecError(
        f"no scenario {wanted!r} in dataset {dataset.name!r}; an id is that of a test item, such as {example}"
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
        user = agents.user_agent(model, meter)
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


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens show-prompts",
        description="Print what a model is sent when it plays a role in a scenario. No model is called.",
        usage="%(prog)s [options] SCENARIO",
        example="personalens show-prompts movies-1-amara --role judge",
    )
    parser.add_argument(
        "scenario",
        metavar="SCENARIO",
        help="the id of a scenario, as in the name of its test item: movies-1-user7",
    )
    parser.add_argument(
        "--role",
        choices=ROLES,
        action="append",
        metavar="ROLE",
        help=f"one of {', '.join(ROLES)}; repeatable (default: all)",
    )
    parser.add_argument(
        "--data", default="embedded", metavar="DATASET", help="as --personalens-data (default: embedded)"
    )
    parser.add_argument(
        "--protocol",
        choices=("default", "paper"),
        default="default",
        metavar="NAME",
        help="default or paper, as --personalens-protocol",
    )
    parser.add_argument("--prompts", metavar="DIR", help="or official:PATH, as --personalens-prompts")
    parser.add_argument(
        "--official-bugs",
        default="reproduce",
        metavar="NAMES",
        help="as personalens_official_bugs (default: reproduce)",
    )
    parser.add_argument(
        "--user-agent",
        choices=("plain", "reasoning", "state"),
        default="plain",
        metavar="FORM",
        help="plain, reasoning or state (default: plain)",
    )
    parser.add_argument(
        "--assistant-prompt",
        choices=("base", "vanilla"),
        default="base",
        metavar="NAME",
        help="base or vanilla (default: base)",
    )
    parser.add_argument(
        "--context",
        type=value_of(letters),
        default="DIS",
        metavar="LETTERS",
        help="what the assistant may know: of D, I, S, or none",
    )
    parser.add_argument(
        "--dimensions",
        default="tc,p",
        metavar="LIST",
        help="the judge's readings, or all (default: tc,p)",
    )
    parser.add_argument(
        "--model",
        default="claude",
        metavar="NAME",
        help="official prompts of claude, llama or mistral",
    )
    return parser
