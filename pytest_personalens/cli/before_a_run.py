"""Commands for what to know before a run: doctor, show-prompts, sample-size and explain."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_agents import ModelAgents, PromptSettings
from pytest_personalens.cli.paid_calls import open_reliable
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import ModelError, PersonalensError, SpecError, error_codes
from pytest_personalens.core.judging import usage
from pytest_personalens.core.judging.measure import dimensions
from pytest_personalens.core.safe_text import harmless, one_line
from pytest_personalens.datasets import open_dataset
from pytest_personalens.models.meter import Meter
from pytest_personalens.models.model import FakeModel, Request
from pytest_personalens.results.stats.paired import smallest_drop

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets.dataset import Dataset
    from pytest_personalens.models import Answer
    from pytest_personalens.models.retry import Reliable

#: The form that the first call of `doctor` asks for.
_FORM: Final = {
    "type": "object",
    "properties": {"justification": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3, 4]}},
    "required": ["justification", "score"],
}
_ASK: Final = (
    "A person asked for a table for two, and the assistant booked one for two. How well did it do, from 1"
    " (badly) to 4 (well)? Answer with a justification of one sentence and the score."
)
#: A text as long as a judge's prompt, whose tokens the server counts. Every text has more than a token for
#: this many characters.
_LINES, _CHARS_A_TOKEN = 240, 8
_LONG: Final = "\n".join(f"Line {n}: the table by the window is free." for n in range(_LINES))
#: The scenarios of the run whose cost is told.
_RUN: Final = 30
_LEARNT: Final = {
    "max_tokens": "it refuses max_tokens, and gets max_completion_tokens",
    "max_completion_tokens": "it refuses every limit of tokens, and gets none",
    "temperature": "it refuses a temperature, and gets none: votes and repeated calls differ",
    "tools": "it refuses tools, and is asked for its verdicts as text",
    "tool_choice": "it takes a tool and no order to use it",
    "system": "it takes no system text, and gets that in its first message",
    "cache": "it refuses cache points, and gets none",
    "stream": "it refuses the field stream, and gets none",
}


def doctor(options: argparse.Namespace) -> int:
    """Try each model, and return 0 if all can be used, else 1."""
    roles = {"judge": options.judge_model, "user": options.user_model}
    if not any(roles.values()):
        raise SpecError("expected --judge-model SPEC or --user-model SPEC, such as openai:gpt-4o")
    prices = usage.read_prices(options.price)
    works = [_examined(role, open_reliable(spec, 2), prices) for role, spec in roles.items() if spec]
    return int(not all(works))


def _examined(role: str, model: Reliable, prices: Mapping[str, Price]) -> bool:
    """Print what three calls of a model tell; return False if it cannot play its role."""

    def tell(what: str, text: str) -> None:
        print(f"  {what:13} {one_line(text)}")

    print(f"{role} {model.name}")
    try:
        model.check_ready()
        for what, text in _findings(role, model):
            tell(what, text)
    except PersonalensError as error:
        tell("no answer", str(error))
        return False
    finally:
        model.close()
    used, price = _usage_of_a_run(role), usage.price_of(model.name, prices)
    cost = f"${price.of(used):.2f}" if price is not None else "its price is not known; give it with --price"
    tokens = f"{used.input_tokens:,} tokens in and {used.output_tokens:,} out"
    tell(f"a run of {_RUN}", f"about {used.calls:,} calls, {tokens}: {cost}")
    return True


def _findings(role: str, model: Reliable) -> Iterator[tuple[str, str]]:
    """Make the calls, and yield what each tells."""
    started = time.monotonic()
    form = model.complete(Request("You judge a digital assistant.", _ASK, max_tokens=1000, answer=_FORM))
    took = time.monotonic() - started
    filled = form.data is not None and form.data.get("score") is not None
    how = "is filled in" if filled else f"is not filled in: {form.problem or form.text[:100]!r}"
    if role == "judge":
        yield "form", f"{how}, in {took:.1f} s"
    text = model.complete(Request("", f"{_LONG}\n\nSay hello in one word.", max_tokens=1000))
    if text.is_empty:
        raise ModelError(text.problem)
    yield "text", f"{text.text.strip()[:40]!r}, ended by {text.word or 'nothing that it told'!r}"
    yield "prompt", _prompt_text(text)
    started = time.monotonic()
    ask = Request("", "Say hello in one word.", max_tokens=200)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(model.complete, [ask, ask]))
    yield "side by side", f"two calls at once took {time.monotonic() - started:.1f} s"
    refused = getattr(model.model, "learnt", None)
    parts = sorted(refused.parts()) if refused is not None else []
    yield from (("learnt", _LEARNT.get(p, f"it takes {p.partition('<=')[2]} tokens at most")) for p in parts)
    if form.thinks or text.thinks:
        yield "thoughts", "it sends its thoughts; they are left out, and take tokens: give ?max_tokens=16000"
    length = getattr(model.model, "context_length", lambda: 0)()
    yield "context", f"{length:,} tokens" if length else "its server does not tell how long"


def _prompt_text(answer: Answer) -> str:
    """Return whether the server read all of a long prompt, as far as its tokens tell."""
    tokens = answer.input_tokens + answer.cached_tokens + answer.written_tokens
    sent = f"{len(_LONG):,} characters were sent"
    if not tokens:
        return f"{sent}, and the server counts no tokens: whether it cuts prompts is not known"
    if tokens * _CHARS_A_TOKEN < len(_LONG):
        return (
            f"WARNING: {sent} and {tokens:,} tokens read: the server cuts long prompts, and a judge would"
            " read half a dialogue; raise its context length"
        )
    return f"{sent} and {tokens:,} tokens read: nothing was cut"


def _usage_of_a_run(role: str) -> usage.Usage:
    """Return about what the role's calls of a run take, in dialogues of the paper's length."""
    rounds, said = usage.ROUNDS["single"], usage.USER + usage.ASSISTANT
    if role == "judge":
        calls = [usage.expected_call(f"judge {reading}", rounds * said) for reading in ("tc", "p")]
    else:
        calls = [usage.expected_call("user agent", n * said) for n in range(rounds)]
    return sum(calls * _RUN, usage.Usage())


#: A placeholder for the dialogue: its first two turns.
_TALK: Final = (
    Message(role="user", content="(what the user said)"),
    Message(role="assistant", content="(what the assistant said)"),
)


def show_prompts(options: argparse.Namespace) -> None:
    """Print what a model is sent when it plays the user, the assistant or the judge of a scenario."""
    settings = PromptSettings(options.protocol, options.prompts, options.official_bugs, options.user_agent)
    agents = ModelAgents(settings, Path.cwd())
    scenario = _find_scenario(open_dataset(options.data, base=Path.cwd()), options.scenario)
    roles = options.role or ("user", "assistant", "judge")
    requests = [each for role in roles for each in _requests(role, agents, scenario, options)]
    for title, request in requests:
        form = ", answered through a tool where the model has them" if request.answer is not None else ""
        limits = f"temperature {request.temperature:g}, at most {request.max_tokens} tokens{form}"
        lines = [f"=== {title} ({limits})"]
        said = [("system", request.system)] if request.system else []
        for role, text in (*said, *request.history, ("user", request.prompt)):
            lines += [f"--- {role}", *text.split("\n")]
        print(*map(harmless, (*lines, "")), sep="\n")


def _find_scenario(dataset: Dataset, item_id: str) -> Scenario:
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
    model, meter = FakeModel(PersonalensError("taken down"), name=options.model), Meter()

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
        prompt, context = options.assistant_prompt, scenario.context(options.context)
        assistant = agents.assistant(model, meter, setting=prompt, context=context)
        said = [{"role": m.role, "content": m.content} for m in (*_TALK, _TALK[0])]
        title = f"assistant: {prompt}, context {options.context or 'none'}"
        yield title, sent(lambda: assistant(said))
    else:
        judge = agents.judge(model, meter)
        for dimension in dimensions(options.dimensions.split(",")):
            request = sent(partial(judge.verdict, scenario, Dialogue(messages=_TALK), dimension))
            yield f"judge: {dimension.value.replace('_', ' ')}", request


SCENARIOS: Final = (10, 20, 30, 50, 100, 200, 500, 1000)
#: Task completion: the share of scenarios that flip between identical runs.
_FLIPS: Final = (0.0, 0.1, 0.2)
#: Personalization: the standard deviation of the difference between identical runs.
_DEVIATIONS: Final = (0.0, 0.5, 0.8)


def sample_size(options: argparse.Namespace) -> None:
    """Print a Markdown table of the smallest drop that a comparison finds, by number of scenarios.

    It is found with a probability of `options.power`. A drop of task completion is in percentage points, a
    drop of personalization in points of its scale. A dash means that no drop would be found.
    """
    level = options.level / options.tests
    columns = [(f"TCR, {flips:.0%} flip", flips, 1, 100, 0) for flips in _FLIPS]
    columns += [(f"P, sd {sd:g}", sd * sd, 3, 1, 2) for sd in _DEVIATIONS]
    print(f"| scenarios | {' | '.join(head for head, *_ in columns)} |")
    print("| ---: |" + " ---: |" * len(columns))
    for scenarios in SCENARIOS:
        cells = []
        for _, noise, most, times, digits in columns:
            drop = smallest_drop(noise, [1] * scenarios, level=level, power=options.power, most=most)
            cells.append("-" if drop is None else f"{times * drop:.{digits}f}")
        print(f"| {scenarios} | {' | '.join(cells)} |")


def explain(options: argparse.Namespace) -> None:
    """Print what is known of the code of an error, or the list of all codes."""
    codes = error_codes()
    if options.code is None:
        print(*(f"{code}  {known.title}" for code, known in codes.items()), sep="\n")
        return
    known = codes.get(options.code.upper())
    if known is None:
        raise SpecError(f"unknown code {options.code!r}; known: {', '.join(codes)}")
    try:
        urls = metadata("pytest-personalens").get_all("Project-URL", [])
    except PackageNotFoundError:  # imported from a folder that was not installed
        urls = []
    docs = next((url.split(", ")[1] for url in urls if url.startswith("Documentation, ")), "docs/README.md")
    page = docs.removesuffix("README.md") + known.page
    print(f"{known.code}: {known.title}", known.do.replace("`", ""), f"more: {page}", sep="\n")
