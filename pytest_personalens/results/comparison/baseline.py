"""The baseline: scores and dialogues of a run by scenario, in a file with which later runs are compared."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.errors import DataError, SpecError, short_repr
from pytest_personalens.core.files.jsonfile import read_versioned, schema_of
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.verdict import MeasureField, ReasonCode, ScoreField
from pytest_personalens.core.names import FIRST_SUITE, CaseId
from pytest_personalens.core.options.option_table import MANNER
from pytest_personalens.core.options.settings import OFFICIAL_PROMPTS
from pytest_personalens.core.suite import SuiteField, get_suite
from pytest_personalens.results.values.item import codes_in, mean_time, scores_in
from pytest_personalens.results.values.results import RESULTS_SCHEMA, Provenance, read_results
from pytest_personalens.results.wording import left_out_text, unread_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

BASELINE_SCHEMA: Final = "personalens-baseline/1"
#: The terms that a mark may change for a test.
_BY_MARK: Final = ("the judge", "the context", "the limit of turns")
_MANNER: Final = "the manner of the user"
_ADVICE: Final = "restore it, or save a new one with --personalens-save-baseline"


class ComparisonTerms(Frozen):
    """What two runs must share so that their scores can be compared: all that shapes them but the assistant.

    `setup` holds the protocol, the judge, the simulated user, the context and the limit of turns, by name.
    """

    suite: SuiteField = Field(default=FIRST_SUITE, description="The suite, by name.")
    dataset: str
    setup: dict[str, str]

    def item_setup(self) -> dict[str, str]:
        """Return the part of the terms that a mark can change for a test."""
        return {what: self.setup[what] for what in (*_BY_MARK, _MANNER) if what in self.setup}


class Entry(Frozen):
    """One trial of a scenario: its scores and the codes of their reasons, or the cause of a missing score.

    `setup` holds the terms of the run that a mark changed. `content` is the digest of the scenario's content.
    `latency` is the mean time of a reply in seconds.
    """

    scenario: str
    user: str
    task: str
    test: str
    trial: int = Field(default=1, ge=1)
    scores: dict[MeasureField, ScoreField] = Field(default_factory=dict)
    cause: str = ""
    content: str = ""
    setup: dict[str, str] = Field(default_factory=dict)
    reasons: dict[MeasureField, tuple[ReasonCode, ...]] = Field(default_factory=dict)
    latency: float | None = None

    @model_validator(mode="after")
    def _on_scale(self) -> Entry:
        for measure, score in self.scores.items():
            measure.check(score)
        return self

    @property
    def key(self) -> tuple[str, ...]:
        """User, task and test, as in `Item.key`."""
        return (self.user, self.task, self.test)

    @property
    def name(self) -> str:
        """The node id that such an item has in a run, for whoever reads the file."""
        return f"{self.test}[{CaseId(self.scenario, trial=self.trial)}]"


class Baseline(Frozen):
    """The scores of a whole run, its terms, and what was said; its provenance is no part of a comparison."""

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-baseline/1"] = Field(default=BASELINE_SCHEMA, alias="schema")
    plugin: str = Field(default_factory=lambda: version("pytest-personalens"))
    provenance: Provenance | None = None
    terms: ComparisonTerms
    side_by_side: int | None = Field(
        default=None, description="Dialogues at a time, where replies were timed."
    )
    entries: tuple[Entry, ...]
    dialogues: dict[str, tuple[Message, ...]] = Field(
        default_factory=dict,
        description="What was said, by `Entry.name`; apart from the scores, whose diff can so be read.",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Baseline:
        if not self.entries:
            raise ValueError("no scenario is in it")
        seen: set[tuple[object, ...]] = set()
        for entry in self.entries:
            if (key := (*entry.key, entry.trial)) in seen:
                which = f"trial {entry.trial} of {entry.scenario} in {entry.test}"
                raise ValueError(f"{which} stands there twice")
            seen.add(key)
        if unknown := self.dialogues.keys() - {entry.name for entry in self.entries}:
            raise ValueError(f"dialogues: no entry is that of {short_repr(min(unknown))}")
        return self

    def mismatch(self, now: ComparisonTerms) -> str:
        """Return in a few words why a run with the terms `now` cannot be compared with this one, or ""."""
        then = self.terms
        if then.suite != now.suite:
            return f"it is of the suite {then.suite!r}, this run of {now.suite!r}"
        if then.dataset != now.dataset:
            return f"the dataset changed: {now.dataset!r} now, {then.dataset!r} then"
        for what in {**now.setup, **then.setup}:
            was, is_now = then.setup.get(what), now.setup.get(what)
            if _without_thresholds(is_now) != _without_thresholds(was):
                return f"{what} changed: {is_now!r} now, {was!r} then"
        return ""

    def changed_scenarios(self, contents: Mapping[tuple[str, str], str]) -> tuple[list[str], int]:
        """Return the scenarios whose content changed, and the number of scenarios in both.

        `contents` maps user and task to the digest of the present content.
        """
        both = {(e.user, e.task): e for e in self.entries if (e.user, e.task) in contents}
        return [e.scenario for key, e in sorted(both.items()) if contents[key] != e.content], len(both)

    def text(self) -> str:
        data: dict[str, Any] = self.model_dump(mode="json", by_alias=True)
        entries, dialogues = data.pop("entries"), data.pop("dialogues")
        for name in ("provenance", "side_by_side"):
            if data[name] is None:
                del data[name]
        line = partial(json.dumps, ensure_ascii=False)
        lines = [line({k: v for k, v in entry.items() if v not in ("", {}, None)}) for entry in entries]
        said = [f"{line(name)}: {line(messages)}" for name, messages in dialogues.items()]
        parts = [line(data, indent=1)[:-2], ' "entries": [\n  ' + ",\n  ".join(lines) + "\n ]"]
        if said:
            parts.append(' "dialogues": {\n  ' + ",\n  ".join(said) + "\n }")
        return ",\n".join(parts) + "\n}\n"


def baseline_of(results: Results, *, for_file: bool = False) -> Baseline:
    """Return the baseline of a run; raise `SpecError` if the run has no scored item.

    One `for_file` holds no dialogue with texts that are data of others.
    """
    if not any(item.evaluation.scored for item in results.own):
        raise SpecError("no item of the run could be scored", code="PL106")
    terms = terms_of(results)
    foreign = {name for name, scenario in results.scenarios.items() if for_file and scenario.unrecorded}
    entries, dialogues = list[Entry](), dict[str, tuple[Message, ...]]()
    for item in sorted(results.own, key=lambda item: (*item.key, item.trial)):
        evaluation, (user, task, test) = item.evaluation, item.key
        verdicts, setup = evaluation.verdicts if evaluation.scored else (), setup_of_item(item)
        entry = Entry(
            scenario=evaluation.scenario,
            user=user,
            task=task,
            test=test,
            trial=item.trial,
            scores=scores_in(verdicts),
            cause=evaluation.cause,
            content=item.content,
            setup={what: value for what, value in setup.items() if value != terms.setup.get(what)},
            reasons=codes_in(verdicts),
            latency=mean_time(item),
        )
        entries.append(entry)
        if entry.scores and entry.scenario not in foreign:
            dialogues[entry.name] = evaluation.dialogue.messages
    return Baseline(
        provenance=results.provenance,
        terms=terms,
        side_by_side=results.latency.side_by_side if results.latency is not None else None,
        entries=tuple(entries),
        dialogues=dialogues,
    )


def why_no_baseline(results: Results) -> str:
    """Return in a few words why a run cannot be kept as a baseline for others, or ""."""
    if why := _why_partial(results):
        return why
    if any(gate.kind == "valid" and not gate.passed for gate in results.gates):
        unread = unread_text(results.own, results.of_suite)
        without = f", without {unread}" if unread else ""
        return f"only {results.overall.scored} of {results.expected} items could be scored{without}"
    return ""


def _without_thresholds(setting: str | None) -> str | None:
    """Return the name of a judge without the thresholds of its test, which a mark may change."""
    return setting and setting.partition(" where not ")[0]


def _why_partial(results: Results) -> str:
    if not results.complete:
        return "the run was stopped, or an item of it never reported"
    if results.left_out:
        return f"a selection left {left_out_text(results)} out (-k, -m, --lf, node ids, paths)"
    return ""


def terms_of(results: Results) -> ComparisonTerms:
    """Return the terms of a finished run with at least one item: those of most of its items."""
    judges = Counter(sorted(item.evaluation.judge for item in results.own))
    users = Counter(sorted(_user_of(item) for item in results.own))
    ((judge, _),), ((user_agent, _),) = judges.most_common(1), users.most_common(1)
    setup = setup_of(judge, user_agent, results.settings)
    return ComparisonTerms(suite=results.suite, dataset=results.dataset, setup=setup)


def setup_of(judge: str, user_agent: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what shapes scores besides dataset and assistant; `settings` are those of the run, by name."""
    suite = get_suite(settings.get("suite") or FIRST_SUITE)
    of_items = _setup(suite.judge_of_run(judge), *map(settings.get, ("context", "max_turns", "manner")))
    prompts, protocol = settings.get("prompts") or "", settings.get("protocol") or "default"
    protocol = "official" if prompts.startswith(OFFICIAL_PROMPTS) else protocol
    # The protocol comes first, because another protocol also means other agents.
    return {"the protocol": protocol, **of_items, "the simulated user": user_agent, **suite.terms(settings)}


def agents_of_run(item: Item, suite: Suite) -> dict[str, str]:
    """Return who judged an item and who spoke in it, by role, without what is the item's own."""
    judge, user_agent = suite.judge_of_run(item.evaluation.judge), _user_of(item)
    agents = {"the judge": _without_thresholds(judge), "the simulated user": user_agent}
    return {role: identity for role, identity in agents.items() if identity}


def setup_of_item(item: Item) -> dict[str, str]:
    """Return the terms of an item of the run itself that a mark can change."""
    return _setup(item.evaluation.judge, item.given, item.max_turns, item.slices.get(MANNER, ""))


def _user_of(item: Item) -> str:
    """Return who spoke as the user, without the manner, which is drawn by scenario or set by a test."""
    return item.evaluation.user_agent.removesuffix(f", manner {item.slices.get(MANNER)}")


def _setup(judge: str, context: str | None, max_turns: int | None, manner: str | None) -> dict[str, str]:
    terms = dict(zip(_BY_MARK, (judge, context or "none", str(max_turns or "the benchmark's")), strict=True))
    return terms | ({_MANNER: manner} if manner else {})


def mismatch_message(name: str, changed: str) -> str:
    """Return the message about the baseline `name` with a `Baseline.mismatch`."""
    advice = "run with what it had, or save a new one with --personalens-save-baseline"
    return f"{name} cannot be compared with this run: {changed}; {advice}"


def read_baseline(path: Path) -> Baseline:
    """Return the baseline in a file of ``--personalens-save-baseline``, or of results as JSON.

    Raise `DataError` if it cannot be used.
    """
    if schema_of(path) != RESULTS_SCHEMA:
        return read_versioned(path, Baseline, BASELINE_SCHEMA, what="a baseline", advice=_ADVICE)
    results = read_results(path)
    why = "its run is a shard of one" if results.settings.get("shard") else _why_partial(results)
    try:
        if why:
            raise SpecError(why, code="PL202")
        return baseline_of(results)
    except SpecError as error:
        raise DataError(path, f"{error}; {_ADVICE}", code=error.code) from None
