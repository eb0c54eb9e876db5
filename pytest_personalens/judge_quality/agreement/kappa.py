"""Measures how far a judge agrees with annotators, they with each other, and what an idle sentence moves."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.errors import JudgeFault, NotJudged
from pytest_personalens.core.judging.verdict import READINGS, Dimension, Verdict
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.base import pick

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.judge_quality.agreement.labels import Labelled


#: The resamples of a bootstrap. Its interval holds the middle 95 % of them.
RESAMPLES: Final = 1000
_Item = TypeVar("_Item")


def cohen(pairs: Sequence[tuple[int, int]], *, quadratic: bool = False) -> float | None:
    """Return Cohen's kappa of two raters (Cohen 1960), at most 1.

    Return None where it is undefined: without pairs, or if both raters give one and the same score
    throughout. With `quadratic` weights a disagreement counts by the square of its distance (Cohen 1968).
    """
    n = len(pairs)
    rows, columns = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)

    def weight(a: int, b: int) -> float:
        return float((a - b) ** 2) if quadratic else float(a != b)

    observed = sum(weight(a, b) for a, b in pairs) * n
    expected = sum(weight(a, b) * rows[a] * columns[b] for a in rows for b in columns)
    return None if expected == 0 else 1 - observed / expected


def fleiss(ratings: Sequence[Sequence[int]]) -> float | None:
    """Return Fleiss' kappa among any number of raters (Fleiss 1971).

    Return None where it is undefined. Subjects with fewer than two ratings are left out, because they show no
    agreement. The other subjects may differ in their number of ratings.
    """
    rated = [Counter(r) for r in ratings if len(r) > 1]
    total = sum(c.total() for c in rated)
    if not total:
        return None
    agreement = sum(
        (sum(k * k for k in c.values()) - c.total()) / (c.total() * (c.total() - 1)) for c in rated
    ) / len(rated)
    pooled: Counter[int] = sum(rated, Counter())
    chance = sum((k / total) ** 2 for k in pooled.values())
    return None if chance == 1 else (agreement - chance) / (1 - chance)


def interval(
    groups: Mapping[Hashable, Sequence[_Item]],
    statistic: Callable[[Sequence[_Item]], float | None],
    *,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return a 95 % bootstrap interval of `statistic` (percentile method).

    Each resample draws whole groups, because dialogues of one scenario are not independent. Return None if
    the statistic is defined on fewer than half of the resamples.
    """
    names = list(groups)
    chance = random.Random(seed)
    values = []
    for _ in range(RESAMPLES if names else 0):
        drawn = chance.choices(names, k=len(names))
        if (value := statistic([item for name in drawn for item in groups[name]])) is not None:
            values.append(value)
    if len(values) < RESAMPLES / 2:
        return None
    values.sort()
    return values[round(0.025 * (len(values) - 1))], values[round(0.975 * (len(values) - 1))]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Kappa(_Part):
    """Cohen's kappa over `dialogues`, with 95 % intervals; a value is None where it is undefined."""

    dialogues: int
    plain: float | None
    plain_interval: tuple[float, float] | None = None
    weighted: float | None
    weighted_interval: tuple[float, float] | None = None


class Disagreement(_Part):
    """A dialogue on which judge and majority differ, with their scores and reasons."""

    id: str
    judge: int
    majority: int
    labels: dict[str, int]
    justification: str
    reasons: dict[str, str]


class Reading(_Part):
    """The agreement on one dimension.

    It compares the judge with the majority and with each annotator, and the annotators with each other.
    `confusion` maps "label -> judge", such as ``"3 -> 2"``, to a number of dialogues.
    """

    dimension: Dimension
    majority: Kappa
    annotators: dict[str, Kappa]
    #: The mean of the plain kappas against each annotator, as in Table 5 of the paper; None if one of them is
    #: undefined.
    annotators_mean: float | None = None
    fleiss: float | None
    between: dict[str, Kappa]
    confusion: dict[str, int]
    disagreements: tuple[Disagreement, ...]


class Agreement(_Part):
    """The agreement of a judge with labels, and by id why it could not judge a dialogue."""

    schema_version: Literal["personalens-agreement/1"] = "personalens-agreement/1"
    judge: str
    dialogues: int
    scenarios: int
    readings: tuple[Reading, ...]
    faults: dict[str, str]


def measure(
    labelled: Sequence[Labelled],
    judge: Judge,
    *,
    dimensions: Sequence[Dimension] = READINGS,
    progress: Callable[[int], None] = lambda done: None,
    at_once: int = 1,
) -> Agreement:
    """Return the agreement of `judge` with the labels; a reading that fails counts nowhere."""
    faults: dict[str, str] = {}
    verdicts: dict[tuple[str, Dimension], tuple[int, str]] = {}
    for item, dimension, found in _verdicts(labelled_readings(labelled, dimensions), judge, at_once):
        if isinstance(found, Verdict):
            verdicts[item.id, dimension] = int(found.score), found.justification
        else:
            faults[item.id] = f"{dimension.short}: {found}"
        progress(len({i for i, _ in verdicts} | set(faults)))
    return Agreement(
        judge=judge.identity,
        dialogues=len(labelled),
        scenarios=len({item.group for item in labelled}),
        readings=tuple(
            _reading(labelled, d, verdicts)
            for d in dimensions
            if any((i.id, d) in verdicts for i in labelled)
        ),
        faults=faults,
    )


def _verdicts(
    readings: Sequence[tuple[Labelled, Dimension]], judge: Judge, at_once: int
) -> Iterator[tuple[Labelled, Dimension, Verdict | JudgeFault | NotJudged]]:
    """Yield each reading with its verdict, or with why the judge gave none, in their order."""
    pool = Threads(at_once if getattr(judge, "parallel", False) else 1)
    try:
        under_way = [(i, d, pool.submit(judge.verdict, i.scenario, i.dialogue, d)) for i, d in readings]
        for item, dimension, reading in under_way:
            try:
                yield item, dimension, reading.result()
            except (JudgeFault, NotJudged) as fault:
                yield item, dimension, fault
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def labelled_readings(
    labelled: Sequence[Labelled], dimensions: Sequence[Dimension]
) -> list[tuple[Labelled, Dimension]]:
    return [
        (item, dimension)
        for item in labelled
        for dimension in dimensions
        if item.majority(dimension) is not None
    ]


def _reading(
    labelled: Sequence[Labelled], dimension: Dimension, verdicts: dict[tuple[str, Dimension], tuple[int, str]]
) -> Reading:
    judged = [(item, *verdicts[item.id, dimension]) for item in labelled if (item.id, dimension) in verdicts]
    names = sorted({name for item in labelled for name, scores in item.labels.items() if dimension in scores})
    against = [(item.group, (_majority(item, dimension), score)) for item, score, _ in judged]
    apart = sorted(
        (j for j in judged if _majority(j[0], dimension) != j[1]),
        key=lambda j: (-abs(_majority(j[0], dimension) - j[1]), j[0].id),
    )

    def label(item: Labelled, name: str) -> int | None:
        return item.labels.get(name, {}).get(dimension)

    def between(a: str, b: str) -> Kappa:
        pairs = [
            (i.group, (x, y))
            for i in labelled
            if (x := label(i, a)) is not None
            if (y := label(i, b)) is not None
        ]
        return _kappa(pairs, intervals=False)

    annotators = {
        name: _kappa([(i.group, (x, score)) for i, score, _ in judged if (x := label(i, name)) is not None])
        for name in names
    }
    return Reading(
        dimension=dimension,
        majority=_kappa(against),
        annotators=annotators,
        annotators_mean=_mean([k.plain for k in annotators.values()]),
        fleiss=fleiss([[s[dimension] for s in item.labels.values() if dimension in s] for item in labelled]),
        between={f"{a}, {b}": between(a, b) for a, b in combinations(names, 2)},
        confusion={f"{a} -> {b}": k for (a, b), k in sorted(Counter(pair for _, pair in against).items())},
        disagreements=tuple(
            Disagreement(
                id=item.id,
                judge=score,
                majority=_majority(item, dimension),
                labels={name: s[dimension] for name, s in item.labels.items() if dimension in s},
                justification=why,
                reasons=item.reasons,
            )
            for item, score, why in apart
        ),
    )


def _mean(kappas: Sequence[float | None]) -> float | None:
    defined = [kappa for kappa in kappas if kappa is not None]
    return sum(defined) / len(defined) if defined and len(defined) == len(kappas) else None


def _majority(item: Labelled, dimension: Dimension) -> int:
    majority = item.majority(dimension)
    assert majority is not None  # only labelled dialogues are judged
    return majority


def _kappa(grouped_pairs: Sequence[tuple[Hashable, tuple[int, int]]], *, intervals: bool = True) -> Kappa:
    groups: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for group, pair in grouped_pairs:
        groups[group].append(pair)
    pairs = [pair for _, pair in grouped_pairs]
    weighted = partial(cohen, quadratic=True)
    return Kappa(
        dialogues=len(pairs),
        plain=cohen(pairs),
        plain_interval=interval(groups, cohen) if intervals else None,
        weighted=weighted(pairs),
        weighted_interval=interval(groups, weighted) if intervals else None,
    )


#: Sentences that say nothing about any task: footers and courtesies.
_SENTENCES: Final = (
    "Our office is open from nine to five.",
    "You can change your settings at any time.",
    "Thank you for being with us.",
    "This conversation may be recorded for quality.",
    "Is there anything else I can do for you?",
    "Have a lovely day!",
    "Rate this chat from one to five stars.",
    "Terms and conditions apply.",
    "We answer most messages within two minutes.",
    "I am always happy to help.",
    "Tip: type menu to see what I can do.",
    "Your privacy matters to us.",
)


class Moved(NamedTuple):
    """Of `readings` that the judge gave with and without an idle sentence, those that differ."""

    dimension: Dimension
    readings: int
    moved: int


def idle_readings(
    readings: Sequence[tuple[Labelled, Dimension]],
) -> Iterator[tuple[Labelled, Dimension]]:
    """Yield the readings of the same dialogues with one idle sentence behind each reply, drawn by the id."""
    for item, dimension in readings:
        sentence = pick(_SENTENCES, item.id)
        messages = tuple(
            m.model_copy(update={"content": f"{m.content} {sentence}"}) if m.role == "assistant" else m
            for m in item.dialogue.messages
        )
        dialogue = item.dialogue.model_copy(update={"messages": messages})
        yield item.model_copy(update={"dialogue": dialogue}), dimension


def moved_by_idle(
    readings: Sequence[tuple[Labelled, Dimension]], judge: Judge, *, at_once: int = 1
) -> list[Moved]:
    pairs: dict[Dimension, list[bool]] = {}
    before, after = (_verdicts(some, judge, at_once) for some in (readings, [*idle_readings(readings)]))
    for (_, dimension, then), (_, _, now) in zip(list(before), after, strict=True):
        if isinstance(then, Verdict) and isinstance(now, Verdict):
            pairs.setdefault(dimension, []).append(then.score != now.score)
    return [Moved(dimension, len(differ), sum(differ)) for dimension, differ in pairs.items()]


def idle_lines(moved: Sequence[Moved]) -> Iterator[str]:
    yield ""
    yield "Verdicts that move with an idle sentence behind each reply"
    for one in moved:
        share = f"{one.moved / one.readings:.1%}"
        yield f"{one.dimension.short:16}{one.moved:6} of {one.readings:<6}{share:>7}"
