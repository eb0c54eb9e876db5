"""Estimates the cost of a sample: its calls, with the tokens of each by a table and by the item's texts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.judging.measure import ALL_CRITERIA, CRITERION, dimensions
from pytest_personalens.core.judging.usage import (
    ASSISTANT,
    ROUNDS,
    USER,
    Usage,
    expected_call,
    tokens_in,
)
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.reports.terminal.summary_lines import usage_table
from pytest_personalens.results.summarize import price_for, role_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.plugin.running.run import Run


def estimate_cost(run: Run) -> dict[str, Usage]:
    """Return the expected calls and tokens by purpose, for the sample with all trials and controls, as if
    nothing was recorded and nothing cached: each message reads those before it, and each reading all of them.
    """
    settings, suite, models = run.settings, run.suite, run.participants.models()
    protocol = settings.protocol_in_force if suite.name == FIRST_SUITE else ""
    usage: defaultdict[str, Usage] = defaultdict(Usage)

    def add(purpose: str, reads: int, kind: str) -> None:
        thinks = settings.user_agent != "plain" and purpose == "user agent"
        usage[purpose] += expected_call(purpose, reads, protocol=protocol, kind=kind, thinks=thinks)

    def add_readings(wanted: Iterable[Measure], reads: int, kind: str, prefix: str = "") -> None:
        for measure in wanted:
            own = f"judge {ALL_CRITERIA if measure.value.startswith(CRITERION) else measure.short}"
            if own in models or ("judge" in models and measure not in suite.free):
                add(f"{prefix}{measure.purpose}", reads, kind)

    for case in run.cases(run.sample(settings), settings):
        scenario, stored = run.scenario(case), run.stored_dialogue(case)
        messages = _lengths(stored.dialogue) if stored is not None else _played(run, scenario)
        if stored is None:
            context = run.context(case, scenario) if "assistant" in models else None
            known = tokens_in([context.text()]) if context is not None else 0
            for place, (role, _) in enumerate(messages):
                before = sum(length for _, length in messages[:place])
                if role in models:
                    add(role, before + (known if role == "assistant" else 0), scenario.kind)
        wanted = suite.measures_of(scenario, settings.readings)
        add_readings(wanted, sum(length for _, length in messages), scenario.kind)
    if settings.adopt_judge or settings.check_judge:
        from pytest_personalens.judge_quality.drift import open_anchors
        from pytest_personalens.plugin.reporting.judge_check import anchors_path

        for anchor in open_anchors(anchors_path(run.config, settings)).dialogues:
            reads = tokens_in(message.content for message in anchor.dialogue.messages)
            add_readings(dimensions(settings.dimensions), reads, anchor.scenario.kind, prefix="anchor ")
    return dict(sorted(usage.items()))


def _played(run: Run, scenario: BaseScenario) -> list[tuple[str, int]]:
    """Return the roles and tokens of the messages of a dialogue: of the paper's length, or as written."""
    if run.suite.has_turns and not run.suite.remembers:
        rounds = ROUNDS[scenario.kind]
        most = run.settings.max_turns or rounds
        said = [("user agent", USER), ("assistant", ASSISTANT)] * rounds
        return said[: 2 * most + 1] if most < rounds else said
    filler = "word " * ASSISTANT
    return _lengths(converse(scenario, lambda _: filler, run.suite.asker(run.settings)).dialogue)


def _lengths(dialogue: Dialogue) -> list[tuple[str, int]]:
    roles = {"user": "user agent", "assistant": "assistant"}
    return [(roles[message.role], tokens_in([message.content])) for message in dialogue.messages]


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
