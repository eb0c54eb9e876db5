"""Estimates the cost of a sample: its calls, with the tokens of each by a table and by the item's texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.agents.by_model.expected_usage import (
    ASSISTANT,
    ROUNDS,
    USER,
    expected_call,
    tokens_in,
)
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.judging.dimensions import dimensions
from pytest_personalens.core.judging.measure import ALL_CRITERIA, CRITERION
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.reports.terminal.summary_lines import usage_table
from pytest_personalens.results.summarize import price_for, role_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.plugin.running.items import ItemSpec
    from pytest_personalens.plugin.running.run import Run


class _Estimate:
    """Adds up the expected calls of a run by purpose, as if nothing was recorded and nothing cached."""

    def __init__(self, run: Run) -> None:
        self._run, self.usage = run, dict[str, Usage]()
        self._models = run.participants.models()
        first = run.suite.name == FIRST_SUITE
        self._protocol = run.settings.protocol_in_force if first else ""
        self._thinks = run.settings.user_agent != "plain"

    def add_case(self, case: ItemSpec) -> None:
        """Add the calls of an item: each message reads those before it, and each reading all of them."""
        run, scenario = self._run, self._run.scenario(case)
        stored = run.stored_dialogue(case)
        messages = _lengths(stored.dialogue) if stored is not None else self._played(scenario)
        if stored is None:
            context = run.context(case, scenario) if "assistant" in self._models else None
            known = tokens_in([context.text()]) if context is not None else 0
            for place, (role, _) in enumerate(messages):
                before = sum(length for _, length in messages[:place])
                if role in self._models:
                    self._add(role, before + (known if role == "assistant" else 0), scenario.kind)
        wanted = run.suite.measures_of(scenario, run.settings.readings)
        self.add_readings(wanted, sum(length for _, length in messages), scenario.kind)

    def add_readings(self, wanted: Iterable[Measure], reads: int, kind: str, prefix: str = "") -> None:
        """Add a call for each reading that a model gives of a dialogue with that many tokens."""
        for measure in wanted:
            own = f"judge {ALL_CRITERIA if measure.value.startswith(CRITERION) else measure.short}"
            if own in self._models or ("judge" in self._models and measure not in self._run.suite.free):
                self._add(f"{prefix}{measure.purpose}", reads, kind)

    def _played(self, scenario: BaseScenario) -> list[tuple[str, int]]:
        """Return the roles and tokens of the messages of a dialogue: of the paper's length, or as written."""
        run = self._run
        if run.suite.has_turns and not run.suite.remembers:
            most = run.settings.max_turns or ROUNDS[scenario.kind]
            said = [("user agent", USER), ("assistant", ASSISTANT)] * ROUNDS[scenario.kind]
            return said[: 2 * most + 1] if most < ROUNDS[scenario.kind] else said
        filler = "word " * ASSISTANT
        return _lengths(converse(scenario, lambda _: filler, run.suite.asker(run.settings)).dialogue)

    def _add(self, purpose: str, reads: int, kind: str) -> None:
        thinks = self._thinks and purpose == "user agent"
        call = expected_call(purpose, reads, protocol=self._protocol, kind=kind, thinks=thinks)
        self.usage[purpose] = self.usage.get(purpose, Usage()) + call


def _lengths(dialogue: Dialogue) -> list[tuple[str, int]]:
    roles = {"user": "user agent", "assistant": "assistant"}
    return [(roles[message.role], tokens_in([message.content])) for message in dialogue.messages]


def estimate_cost(run: Run) -> dict[str, Usage]:
    """Return the expected calls and tokens by purpose, for the sample with all trials and controls."""
    settings, estimate = run.settings, _Estimate(run)
    for case in run.cases(run.sample(settings), settings):
        estimate.add_case(case)
    if settings.adopt_judge or settings.check_judge:
        from pytest_personalens.judge_quality.drift.anchors import open_anchors
        from pytest_personalens.plugin.reporting.judge_check import anchors_path

        for anchor in open_anchors(anchors_path(run.config, settings)).dialogues:
            reads = tokens_in(message.content for message in anchor.dialogue.messages)
            read = dimensions(settings.dimensions)
            estimate.add_readings(read, reads, anchor.scenario.kind, prefix="anchor ")
    return dict(sorted(estimate.usage.items()))


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
    plays_rounds = run.suite.has_turns and not run.suite.remembers
    length = "dialogues of the paper's length" if plays_rounds else "one reply to each message"
    length = "the stored dialogues" if run.stored is not None else length
    print(
        f"An estimate: prompts of the usual length, {length}, nothing recorded yet, nothing read from a cache"
        + (f", no further votes ({run.settings.judge_votes} allowed)" if run.settings.judge_votes > 1 else "")
    )


def _price_lines(config: pytest.Config, models: Sequence[str]) -> str:
    """Return the key `personalens_prices` in the syntax of the configuration file, to be filled in."""
    lines = [f"{model} = INPUT, OUTPUT" for model in models]
    if config.inipath is not None and config.inipath.suffix == ".toml":
        return "\n".join(("personalens_prices = [", *(f'    "{line}",' for line in lines), "]"))
    return "\n".join(("personalens_prices =", *(f"    {line}" for line in lines)))
