"""An item of a run with its outcome: below which thresholds it fell, and how long its replies took."""

from __future__ import annotations

import re
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, WithJsonSchema

from pytest_personalens.core.dialogue.message import Message
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.measure import Dimension, Measure, Score, find_measure, get_measure
from pytest_personalens.core.judging.verdict import MeasureField, ReasonCode, ScoreField
from pytest_personalens.core.names import without_parameters
from pytest_personalens.results.values.figures import Latency

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.verdict import Verdict


#: In seconds: where 95 % of the replies take less, the times tell more of the machine than of the assistant,
#: and are not kept.
SHORTEST: Final = 0.5
#: A mean that rose by less than so many seconds is no regression: no person would notice it.
MARGIN: Final = 0.5


def quantile(times: Iterable[float], share: float) -> float | None:
    """Return the time that a share of the times does not exceed (nearest rank); None without any."""
    ranked = sorted(times)
    return ranked[ceil(share * len(ranked)) - 1] if ranked else None


def times_of(items: Iterable[Item]) -> list[float]:
    return [time for item in items for time in item.evaluation.latencies if time is not None]


def mean_time(item: Item) -> float | None:
    """Return the mean time of the replies of a dialogue in seconds; None if none was timed."""
    times = times_of([item])
    return round(fmean(times), 2) if times else None


def without_short(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items, with every time as 0 if the replies of the run are too short to be measured.

    Equal runs of a scripted assistant give equal results then, however busy the machine is.
    """
    p95 = quantile(times_of(items), 0.95)
    if p95 is None or p95 >= SHORTEST:
        return tuple(items)
    short = []
    for item in items:
        evaluation = item.evaluation
        times = tuple(None if time is None else 0.0 for time in evaluation.latencies)
        if times != evaluation.latencies or evaluation.first_pieces:
            evaluation = evaluation.model_copy(update={"latencies": times, "first_pieces": ()})
            item = item.model_copy(update={"evaluation": evaluation})
        short.append(item)
    return tuple(short)


def latency_of(items: Sequence[Item], side_by_side: int) -> Latency | None:
    """Return the figures of the replies; None where none was measured, or none took long enough."""
    times = times_of(items)
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    if p50 is None or p95 is None or p95 < SHORTEST:
        return None
    first = [time for item in items for time in item.evaluation.first_pieces if time is not None]
    return Latency(
        p50=p50,
        p95=p95,
        replies=len(times),
        replayed=sum(time is None for item in items for time in item.evaluation.latencies),
        first_p50=quantile(first, 0.5),
        first_p95=quantile(first, 0.95),
        side_by_side=side_by_side,
    )


def item_times(item: Item) -> dict[str, float]:
    """Return p50 and p95 of the replies of one dialogue by name; nothing if all are 0 or none was timed."""
    times = times_of([item])
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    return {} if p50 is None or not p95 else {"latency_p50": p50, "latency_p95": p95}


_NOT_COMPLETED: Final = "task not completed"
_NUMBER: Final = r"-?[0-9]+(?:\.[0-9]+)?"
_SCORE: Final = re.compile(rf"(?P<measure>\S+) (?P<score>{_NUMBER}) (?P<way>[<>]) (?P<limit>{_NUMBER})")


class Shortfall(NamedTuple):
    """A `score` worse than the `limit` of its test."""

    dimension: Measure
    score: Score
    limit: Score

    def __str__(self) -> str:
        """Return ``p 1 < 2``, or ``task not completed``, which `parse_shortfall` reads."""
        if self.dimension == Dimension.TASK_COMPLETION:
            return _NOT_COMPLETED
        way = "<" if self.dimension.better == "high" else ">"
        return f"{self.dimension.short} {self.score} {way} {self.limit}"


def parse_shortfall(text: object) -> Shortfall:
    """Return the shortfall in a text that `str` wrote, or a `Shortfall` as it is; else raise `ValueError`."""
    if isinstance(text, Shortfall):
        return text
    if text == _NOT_COMPLETED:
        return Shortfall(Dimension.TASK_COMPLETION, 0, 1)
    match = _SCORE.fullmatch(text) if isinstance(text, str) else None
    measure = find_measure(match["measure"]) if match is not None else None
    if match is None or measure is None:
        raise ValueError(f"{text!r:.60} is no shortfall, such as 'p 1 < 2' or {_NOT_COMPLETED!r}")
    return Shortfall(measure, *(measure.on_grid(float(match[name])) for name in ("score", "limit")))


#: A shortfall as a field. Files hold its text.
StoredShortfall = Annotated[
    Shortfall, PlainValidator(parse_shortfall), PlainSerializer(str), WithJsonSchema({"type": "string"})
]


def shortfalls_of(evaluation: Evaluation, thresholds: Mapping[str, Score]) -> tuple[Shortfall, ...]:
    """Return the scores that are worse than their `thresholds`, by the long names of measures."""
    scores = {v.dimension.value: v.score for v in evaluation.verdicts if evaluation.scored}
    read = ((get_measure(name), scores[name], limit) for name, limit in thresholds.items() if name in scores)
    return tuple(Shortfall(m, score, limit) for m, score, limit in read if m.is_worse(score, limit))


def uncounted_reason(evaluation: Evaluation) -> tuple[str, str]:
    """Return why an item does not count: the role at fault (the judge, if unread), and one line."""
    if not evaluation.judged:
        return "judge", "; ".join(dict.fromkeys(evaluation.not_judged.values()))
    if evaluation.cause or not evaluation.unread:
        return evaluation.cause, evaluation.detail
    unread = (f"{measure.short}: {why}" for measure, why in evaluation.unread.items())
    return "judge", "; ".join(unread)


def shortfall_text(shortfalls: Iterable[Shortfall]) -> str:
    """Return all shortfalls in one line, such as ``task not completed, p 1 < 2``."""
    return ", ".join(map(str, shortfalls))


class Earlier(Frozen):
    """What an item came to before this run, as far as it is known.

    `reasons` are the codes of the judge's reasons, each once. `messages` are what was said then; they are
    empty where that is not known, or the same as now.
    """

    source: Literal["record", "baseline"] = Field(description="What the scores and the reasons are from.")
    scores: dict[MeasureField, ScoreField] = Field(default_factory=dict)
    reasons: dict[MeasureField, tuple[ReasonCode, ...]] = Field(default_factory=dict)
    messages: tuple[Message, ...] = ()


def scores_in(verdicts: Iterable[Verdict]) -> dict[Measure, Score]:
    return {verdict.dimension: verdict.score for verdict in verdicts}


def codes_in(verdicts: Iterable[Verdict]) -> dict[Measure, tuple[ReasonCode, ...]]:
    """Return the codes of the reasons of each reading that has any, each once, in alphabetical order."""
    by_measure = {verdict.dimension: {reason.code for reason in verdict.reasons} for verdict in verdicts}
    return {dimension: tuple(sorted(codes)) for dimension, codes in by_measure.items() if codes}


class Item(Frozen):
    """One test item: its evaluation, its outcome, and its record.

    `status` is "passed" or "low" (below a threshold) for a scored item. It is "uncounted" for an item without
    scores, and for one that lacks a reading with a threshold and is not low by another. `failed` is the
    outcome of the test. It may differ from `status`: a low item passes if a gate decides, and a test may have
    its own asserts.
    """

    model_config = ConfigDict(populate_by_name=True)

    nodeid: str
    evaluation: Evaluation
    status: Literal["passed", "low", "uncounted"]
    failed: bool = False
    shortfalls: tuple[StoredShortfall, ...] = Field(default=(), description="Such as 'p 1 < 2'.")
    record: Literal["none", "replayed", "stale", "written"] = "none"
    record_file: str = Field(default="", description="Where its record is, from the root folder.")
    trial: int = Field(default=1, ge=1, description="Which run of its scenario this is, from 1.")
    control: str = Field(
        alias="arm", default="", description="Empty for the run itself; else the name of a control."
    )
    given: str = Field(default="", description="What the assistant could know: letters of D, I, S.")
    given_user: str = Field(default="", description="Whose context that was, where it was another user's.")
    max_turns: int = Field(default=0, description="The limit of turns; 0 for the benchmark's.")
    content: str = Field(default="", description="Digest of the scenario's content.")
    test: str = Field(default="", description="The test: file, function and its own parameters.")
    slices: dict[str, str] = Field(
        default_factory=dict, description="Demographic that the run is sliced by, or manner -> the user's."
    )
    usd: float | None = Field(default=None, description="US dollars for it, if a model has a known price.")
    earlier: Earlier | None = Field(
        default=None, description="What it was, by the baseline or by a record that holds another dialogue."
    )

    @property
    def key(self) -> tuple[str, ...]:
        """User, task and test, which all trials and controls of a scenario in a test share, in every run."""
        return (self.evaluation.user, self.evaluation.task, self.test or without_parameters(self.nodeid))

    @property
    def transcript_file(self) -> str:
        """The record that holds this dialogue; a stale one holds an older dialogue and does not count."""
        return "" if self.record == "stale" else self.record_file

    @property
    def scenario_key(self) -> tuple[str, str]:
        return (self.evaluation.user, self.evaluation.task)


def members(items: Iterable[Item], group: str) -> list[Item]:
    """Return the items of a domain or kind; of all for an empty `group`."""
    return [i for i in items if not group or group == i.evaluation.kind or group in i.evaluation.domains]
