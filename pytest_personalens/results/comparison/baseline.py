"""The baseline: the scores of a run by scenario, in a file.

A later run is compared with it.
"""

from __future__ import annotations

import json
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.jsonfile import read_versioned, schema_of
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.verdict import MeasureField, ReasonCode, ScoreField
from pytest_personalens.core.options.settings import OFFICIAL_PROMPTS
from pytest_personalens.core.suite.suite import get_suite
from pytest_personalens.core.suite.suite_field import SuiteField
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.results.values.earlier import codes_in, scores_in
from pytest_personalens.results.values.first_version import OLD_SCHEMA
from pytest_personalens.results.values.provenance import Provenance
from pytest_personalens.results.values.results import RESULTS_SCHEMA, read_results
from pytest_personalens.results.wording import unread_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

BASELINE_SCHEMA: Final = "personalens-baseline/1"
_JUDGE: Final = "the judge"
_BY_MARK: Final = (_JUDGE, "the context", "the limit of turns")
_PROTOCOL: Final = "the protocol"
_DEFAULT: Final = "default"
_ADVICE: Final = "restore it, or save a new one with --personalens-save-baseline"


class ComparisonTerms(Frozen):
    """The terms that two runs must share so that their scores can be compared.

    They are everything that shapes a score except the assistant.
    """

    suite: SuiteField = Field(default=FIRST_SUITE, description="The suite, by name.")
    dataset: str
    setup: dict[str, str] = Field(
        description=(
            "What else -> what it was: the judge, the simulated user, the context, the limit of turns, "
            "and the protocol if it is not the default one."
        )
    )

    def item_setup(self) -> dict[str, str]:
        """Return the part of the terms that a mark can change for a test."""
        return {what: self.setup[what] for what in _BY_MARK if what in self.setup}


class Entry(Frozen):
    """One trial of a scenario: its scores, or the cause of a missing score.

    Its key is (user, task, test, trial). `setup` holds the terms of the run that a mark changed.
    """

    scenario: str
    user: str
    task: str
    test: str
    trial: int = Field(default=1, ge=1)
    scores: dict[MeasureField, ScoreField] = Field(default_factory=dict)
    cause: str = ""
    content: str = Field(
        default="", description="Digest of the scenario's content; empty in baselines of earlier versions."
    )
    setup: dict[str, str] = Field(default_factory=dict)
    reasons: dict[MeasureField, tuple[ReasonCode, ...]] = Field(
        default_factory=dict, description="The codes of the judge's reasons, each once."
    )
    messages: tuple[Message, ...] = Field(
        default=(), exclude=True, description="What was said, where the baseline is a results file."
    )

    @model_validator(mode="after")
    def _on_scale(self) -> Entry:
        for measure, score in self.scores.items():
            measure.check(score)
        return self

    @property
    def key(self) -> tuple[str, ...]:
        """Return the user, the task and the test, as `Item.key` does."""
        return (self.user, self.task, self.test)


class Baseline(Frozen):
    """The scores of a whole run, and the terms of that run."""

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-baseline/1"] = Field(default=BASELINE_SCHEMA, alias="schema")
    plugin: str = Field(default_factory=lambda: version("pytest-personalens"))
    provenance: Provenance | None = Field(
        default=None, description="What was tested, by git and CI variables; no part of the comparison."
    )
    terms: ComparisonTerms
    entries: tuple[Entry, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Baseline:
        if not self.entries:
            raise ValueError("no scenario is in it")
        if (entry := _twice(self.entries)) is not None:
            raise ValueError(f"trial {entry.trial} of {entry.scenario} in {entry.test} stands there twice")
        return self

    def refuses(self, now: ComparisonTerms) -> str:
        """Return why a run with the terms `now` cannot be compared with this baseline.

        The reason has a few words. It is empty if the runs can be compared.
        """
        then = self.terms
        if then.suite != now.suite:
            return f"it is of the suite {then.suite!r}, this run of {now.suite!r}"
        if then.dataset != now.dataset:
            return f"the dataset changed: {now.dataset!r} now, {then.dataset!r} then"
        # The protocol comes first, because another protocol also means other agents.
        for what in sorted({**then.setup, **now.setup}, key=lambda what: what != _PROTOCOL):
            was, is_now = (
                setup.get(what, _DEFAULT if what == _PROTOCOL else None) for setup in (then.setup, now.setup)
            )
            if _apart_from_thresholds(is_now) != _apart_from_thresholds(was):
                return f"{what} changed: {is_now!r} now, {was!r} then"
        return ""

    def changed(self, contents: Mapping[tuple[str, str], str]) -> tuple[list[str], int]:
        """Return the scenarios whose content changed, and the number of scenarios in both.

        `contents` maps user and task to the digest of the present content.
        """
        both = {e.key[:2]: e for e in self.entries if e.content and e.key[:2] in contents}
        return [e.scenario for key, e in sorted(both.items()) if contents[key[0], key[1]] != e.content], len(
            both
        )

    def text(self) -> str:
        """Return the content of the file.

        Each entry has its own line, in a fixed order, so that a diff shows which scenarios changed.
        """
        data: dict[str, Any] = self.model_dump(mode="json", by_alias=True)
        entries = data.pop("entries")
        if data["provenance"] is None:
            del data["provenance"]
        if self.terms.suite == FIRST_SUITE:  # files have no suite from the time when there was only one
            del data["terms"]["suite"]
        lines = [
            json.dumps({k: v for k, v in entry.items() if v not in ("", {})}, ensure_ascii=False)
            for entry in entries
        ]
        head = json.dumps(data, indent=1, ensure_ascii=False)
        return f'{head[:-2]},\n "entries": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def baseline_of(results: Results) -> Baseline:
    """Return the baseline of a run.

    Raise `SpecError` if the run has no scored item.
    """
    if not any(item.evaluation.scored for item in results.own):
        raise SpecError("no item of the run could be scored")
    terms = terms_of(results)
    return Baseline(
        provenance=results.provenance,
        terms=terms,
        entries=tuple(
            Entry(
                scenario=item.evaluation.scenario,
                user=item.key[0],
                task=item.key[1],
                test=item.key[2],
                trial=item.trial,
                scores=scores_in(item.evaluation.verdicts) if item.evaluation.scored else {},
                cause=item.evaluation.cause,
                content=item.content,
                setup={
                    what: value
                    for what, value in setup_of_item(item).items()
                    if value != terms.setup.get(what)
                },
                reasons=codes_in(item.evaluation.verdicts) if item.evaluation.scored else {},
                messages=item.evaluation.dialogue.messages,
            )
            for item in sorted(results.own, key=lambda item: (*item.key, item.trial))
        ),
    )


def unfit(results: Results) -> str:
    """Return why a run cannot be kept as a baseline for others.

    The reason has a few words. It is empty if the run can be kept.
    """
    if why := _partial(results):
        return why
    if any(gate.kind == "valid" and not gate.passed for gate in results.gates):
        unread = unread_text(results.own, results.of_suite)
        return f"only {results.overall.scored} of {results.expected} items could be scored" + (
            f", without {unread}" if unread else ""
        )
    return ""


def _apart_from_thresholds(setting: str | None) -> str | None:
    """Return the name of a judge without its thresholds.

    A judge that votes on low verdicts has the thresholds of its test in its name. A mark may change them: see
    `Entry.setup`.
    """
    return setting and setting.partition(" where not ")[0]


def _partial(results: Results) -> str:
    if not results.complete:
        return "the run was stopped, or an item of it never reported"
    if results.left_out:
        return f"a selection left {results.left_out} items of the sample out (-k, -m, --lf, node ids, paths)"
    return ""


def _twice(entries: Sequence[Entry]) -> Entry | None:
    seen: set[tuple[object, ...]] = set()
    for entry in entries:
        key = (*entry.key, entry.trial)
        if key in seen:
            return entry
        seen.add(key)
    return None


def terms_of(results: Results) -> ComparisonTerms:
    """Return the terms of a finished run: those of most of its items.

    The run has at least one item.
    """
    judges = Counter(item.evaluation.judge for item in results.own)
    users = Counter(item.evaluation.user_agent for item in results.own)
    judge, user_agent = _commonest(judges), _commonest(users)
    setup = setup_of(judge, user_agent, results.settings)
    return ComparisonTerms(suite=results.suite, dataset=results.dataset, setup=setup)


def _commonest(counts: Counter[str]) -> str:
    return max(sorted(counts), key=lambda name: counts[name])


def setup_of(judge: str, user_agent: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what shapes scores besides dataset and assistant.

    `settings` are the settings of the run, by name.
    """
    suite = get_suite(settings.get("suite") or FIRST_SUITE)
    judge = suite.judge_of_run(judge)
    of_items = _setup(judge, settings.get("context") or "", settings.get("max_turns") or 0)
    prompts, protocol = settings.get("prompts") or "", settings.get("protocol") or _DEFAULT
    protocol = "official" if prompts.startswith(OFFICIAL_PROMPTS) else protocol
    # Baselines of earlier versions know only the default protocol.
    named = {_PROTOCOL: protocol} if protocol != _DEFAULT else {}
    return {**of_items, "the simulated user": user_agent, **named, **suite.terms(settings)}


def setup_of_item(item: Item) -> dict[str, str]:
    """Return the terms of one item that a mark can change.

    The item belongs to the run itself, not to a control.
    """
    return _setup(item.evaluation.judge, item.given, item.max_turns)


def _setup(judge: str, context: str, max_turns: int) -> dict[str, str]:
    return dict(zip(_BY_MARK, (judge, context or "none", str(max_turns or "the benchmark's")), strict=True))


def refusal(name: str, changed: str) -> str:
    """Return the message about a baseline that `Baseline.refuses`."""
    advice = "run with what it had, or save a new one with --personalens-save-baseline"
    return f"{name} cannot be compared with this run: {changed}; {advice}"


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file.

    The file is one of ``--personalens-save-baseline``, or holds results as JSON. Raise `DataError` with a
    text of one line if it cannot be used.
    """
    if schema_of(path) not in (RESULTS_SCHEMA, OLD_SCHEMA):
        return read_versioned(path, Baseline, BASELINE_SCHEMA, what="a baseline", advice=_ADVICE)
    results = read_results(path)
    if results.settings.get("shard"):
        raise DataError(path, f"its run is a shard of one; {_ADVICE}")
    if why := _partial(results):
        raise DataError(path, f"{why}; {_ADVICE}")
    try:
        return baseline_of(results)
    except SpecError as error:
        raise DataError(path, f"{error}; {_ADVICE}") from None
