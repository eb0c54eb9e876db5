"""Estimates the cost of a sample from the real prompts, with transcripts of the lengths in the paper."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.model_assistant import (
    ASSISTANT,
    CHARS,
    THOUGHTS,
    USER,
    Placeholder,
    output_tokens,
)
from pytest_personalens.core.dialogue.dialogue import UserAgent, UserTurn
from pytest_personalens.core.errors import UserAgentFault
from pytest_personalens.core.judging.dimensions import dimensions
from pytest_personalens.core.judging.evaluation import empty_evaluation, evaluate, judge_dialogue
from pytest_personalens.core.judging.measure import Measure
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.models import Model
from pytest_personalens.models.meter import Meter
from pytest_personalens.reports.terminal.summary import usage_table
from pytest_personalens.results.summary import price_for, role_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pytest

    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.plugin.running.run import Run

#: Rounds of a dialogue. The paper has 4.74 and 5.64 (Table 2).
ROUNDS: Final = {"single": 5, "multi": 6}


class _User:
    """Says filler text for the expected number of rounds, or what is written in the scenario.

    A model that plays the user builds its prompts; what it says is not used.
    """

    identity, paid = "estimate", False

    def __init__(self, played: UserAgent | None, written: UserAgent | None) -> None:
        self._played, self._written = played, written

    def turn(self, scenario: BaseScenario, transcript: Sequence[Message]) -> UserTurn:
        said = len(transcript) // 2
        if self._played is not None:
            with suppress(UserAgentFault):  # filler does not say what is written
                self._played.turn(scenario, transcript)
        if self._written is not None:
            return self._written.turn(scenario, transcript)
        text = f"{said} " + "word " * round(USER * CHARS / 5)
        return UserTurn(text, done=said >= ROUNDS[scenario.kind] - 1)


class _Judge:
    identity, paid = "estimate", False

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        return Verdict(dimension=dimension, score=dimension.on_grid(dimension.low or 0), justification="so")


def estimate_cost(run: Run) -> dict[str, Usage]:
    """Return calls and tokens by purpose, for the sample of the run with all trials and controls.

    The estimate assumes that nothing is recorded and nothing is cached.
    """
    settings, total = run.settings, dict[str, Usage]()
    whole = settings.protocol_in_force != "default"
    models: dict[str, Model] = {
        role: Placeholder(model.name, role, whole=whole) for role, model in run.participants.models().items()
    }
    beside = THOUGHTS if settings.user_agent != "plain" else 0
    for case in run.cases(run.sample(settings), settings):
        scenario, meter = run.scenario(case), Meter()
        user = run.participants.user_of(models["user agent"], meter) if "user agent" in models else None
        judge = run.participants.judge_of(run.settings._replace(dimensions=()), _judges(models), meter)
        asker = _User(user, None if _plays_rounds(run) else run.suite.asker(settings))
        filler = "word " * round(ASSISTANT * CHARS / 5)
        assistant: Any = lambda messages, filler=filler: filler  # noqa: E731
        if "assistant" in models:
            context = run.context(case, scenario)
            assistant = run.participants.played(models["assistant"], meter, context, scenario.kind)
        wanted = run.suite.measures_of(scenario, settings.readings)
        if (stored := run.stored_dialogue(case)) is not None:
            start = empty_evaluation(scenario).model_copy(update={"dialogue": stored.dialogue})
            judge_dialogue(start, scenario, judge, wanted)
        else:
            evaluate(scenario, assistant, asker, judge, dimensions=wanted)
        for purpose, used in meter.usage.items():
            tokens = output_tokens(purpose) + (beside if purpose == "user agent" else 0)
            expected = used.model_copy(update={"output_tokens": tokens * used.calls})
            total[purpose] = total.get(purpose, Usage()) + expected
    if any(role.startswith("judge") for role in models) and (settings.adopt_judge or settings.check_judge):
        total |= _estimate_anchors(run, models)
    return dict(sorted(total.items()))


def _plays_rounds(run: Run) -> bool:
    """True if the user's messages depend on the replies, so that a dialogue's length is assumed."""
    return run.suite.has_turns and not run.suite.remembers


def _judges(models: Mapping[str, Model]) -> dict[str, Any]:
    """Return the judge of each reading, and one that costs nothing where no model is the judge."""
    roles = {role: model for role, model in models.items() if role.startswith("judge")}
    return {"": _Judge(), **{role.removeprefix("judge").strip(): model for role, model in roles.items()}}


def _estimate_anchors(run: Run, models: Mapping[str, Model]) -> dict[str, Usage]:
    from pytest_personalens.judge_quality.drift.anchors import open_anchors, read_anchors
    from pytest_personalens.plugin.reporting.judge_check import anchors_path

    meter = Meter()
    judge = run.participants.judge_of(run.settings._replace(dimensions=()), _judges(models), meter)
    anchors = open_anchors(anchors_path(run.config, run.settings))
    read_anchors(anchors, judge, dimensions(run.settings.dimensions))
    return {
        f"anchor {purpose}": used.model_copy(update={"output_tokens": output_tokens(purpose) * used.calls})
        for purpose, used in meter.usage.items()
    }


def print_estimate(run: Run) -> None:
    """Print the output of ``--personalens-estimate``."""
    usage = estimate_cost(run)
    prices = run.participants.role_prices()
    priced = {purpose: price_for(purpose, prices) for purpose in usage}
    usd = {purpose: price.of(usage[purpose]) for purpose, price in priced.items() if price is not None}
    if not usage:
        service = run.participants.service
        beside = f", except those that {service} charges for" if service else ""
        print(f"this run makes no paid model calls{beside}")
        return
    print(*usage_table(usage, usd), sep="\n")
    if again := [purpose for purpose in usage if role_of(purpose).startswith("judge")]:
        dollars = f", US$ {sum(usd[purpose] for purpose in again):.4f}" if set(again) <= usd.keys() else ""
        calls = sum(usage[purpose].calls for purpose in again)
        print(
            f"and up to {calls:,} more calls of the judge{dollars}: it is asked once more where its answer"
            " cannot be read, or quotes nothing that is in the transcript"
        )
    unpriced = sorted({model.name for role, model in run.participants.models().items() if role not in prices})
    if unpriced:
        print("without a price; for dollars, configure pytest with yours for a million tokens:")
        print(_price_lines(run.config, unpriced))
    length = "dialogues of the paper's length" if _plays_rounds(run) else "one reply to each message"
    length = "the stored dialogues" if run.stored is not None else length
    print(
        f"An estimate: these prompts, {length}, nothing recorded yet, nothing read from a cache"
        + (f", no further votes ({run.settings.judge_votes} allowed)" if run.settings.judge_votes > 1 else "")
    )


def _price_lines(config: pytest.Config, models: Sequence[str]) -> str:
    """Return the key `personalens_prices` in the syntax of the configuration file, to be filled in."""
    lines = [f"{model} = INPUT, OUTPUT" for model in models]
    if config.inipath is not None and config.inipath.suffix == ".toml":
        return "\n".join(("personalens_prices = [", *(f'    "{line}",' for line in lines), "]"))
    return "\n".join(("personalens_prices =", *(f"    {line}" for line in lines)))
