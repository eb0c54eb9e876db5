"""How far a judge agrees with annotators, they with each other, also as tables; what an idle line moves."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from pytest_personalens.core.errors import JudgeFault, NotJudged
from pytest_personalens.core.judging.verdict import READINGS, Dimension, Verdict
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.dataset import pick
from pytest_personalens.reports.content.markup import Table
from pytest_personalens.reports.paper_tables import paper_rows, paper_title

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.judge_quality.labels import Labelled

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
    agreement = fmean(
        (sum(k * k for k in c.values()) - c.total()) / (c.total() * (c.total() - 1)) for c in rated
    )
    chance = sum((k / total) ** 2 for k in sum(rated, Counter[int]()).values())
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
    names, chance = list(groups), random.Random(seed)
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
    """The agreement on one dimension: of the judge with the majority and with each annotator.

    `confusion` maps "label -> judge", such as ``"3 -> 2"``, to a number of dialogues.
    """

    dimension: Dimension
    majority: Kappa
    annotators: dict[str, Kappa]
    #: The mean of the plain kappas against each annotator, as in Table 5 of the paper; None if one of them is
    #: undefined.
    annotators_mean: float | None = None
    fleiss: float | None
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
    judged: dict[Dimension, list[tuple[Labelled, Verdict]]] = {dimension: [] for dimension in dimensions}
    done = set[str]()
    for item, dimension, found in _verdicts(labelled_readings(labelled, dimensions), judge, at_once):
        if isinstance(found, Verdict):
            judged[dimension].append((item, found))
        else:
            faults[item.id] = f"{dimension.short}: {found}"
        done.add(item.id)
        progress(len(done))
    return Agreement(
        judge=judge.identity,
        dialogues=len(labelled),
        scenarios=len({item.group for item in labelled}),
        readings=tuple(_reading(labelled, d, verdicts) for d, verdicts in judged.items() if verdicts),
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
    return [(item, d) for item in labelled for d in dimensions if item.majority(d) is not None]


def _reading(
    labelled: Sequence[Labelled], dimension: Dimension, judged: Sequence[tuple[Labelled, Verdict]]
) -> Reading:
    names = sorted({name for item in labelled for name in item.labels_on(dimension)})
    against = [
        (item, majority, verdict)
        for item, verdict in judged
        if (majority := item.majority(dimension)) is not None
    ]
    annotators = {
        name: _kappa(
            [
                (i.group, (labels[name], int(v.score)))
                for i, v in judged
                if name in (labels := i.labels_on(dimension))
            ]
        )
        for name in names
    }
    plain = [kappa.plain for kappa in annotators.values() if kappa.plain is not None]
    confusion = Counter((majority, int(verdict.score)) for _, majority, verdict in against)
    disagreements = [
        Disagreement(
            id=item.id,
            judge=int(verdict.score),
            majority=majority,
            labels=item.labels_on(dimension),
            justification=verdict.justification,
            reasons=item.reasons,
        )
        for item, majority, verdict in against
        if majority != verdict.score
    ]
    return Reading(
        dimension=dimension,
        majority=_kappa([(i.group, (majority, int(v.score))) for i, majority, v in against]),
        annotators=annotators,
        annotators_mean=fmean(plain) if plain and len(plain) == len(annotators) else None,
        fleiss=fleiss([list(item.labels_on(dimension).values()) for item in labelled]),
        confusion={f"{label} -> {read}": k for (label, read), k in sorted(confusion.items())},
        disagreements=tuple(sorted(disagreements, key=lambda d: (-abs(d.majority - d.judge), d.id))),
    )


def _kappa(grouped_pairs: Sequence[tuple[Hashable, tuple[int, int]]]) -> Kappa:
    groups: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    for group, pair in grouped_pairs:
        groups[group].append(pair)
    pairs, weighted = [pair for _, pair in grouped_pairs], partial(cohen, quadratic=True)
    return Kappa(
        dialogues=len(pairs),
        plain=cohen(pairs),
        plain_interval=interval(groups, cohen),
        weighted=weighted(pairs),
        weighted_interval=interval(groups, weighted),
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


def idle_lines(
    readings: Sequence[tuple[Labelled, Dimension]], judge: Judge, *, at_once: int = 1
) -> list[str]:
    """Return a table of how many readings differ with an idle sentence, of those given twice."""
    moved: defaultdict[Dimension, list[bool]] = defaultdict(list)
    before, after = (_verdicts(some, judge, at_once) for some in (readings, [*idle_readings(readings)]))
    for (_, dimension, then), (_, _, now) in zip(list(before), after, strict=True):
        if isinstance(then, Verdict) and isinstance(now, Verdict):
            moved[dimension].append(then.score != now.score)
    return ["", "Verdicts that move with an idle sentence behind each reply"] + [
        f"{dimension.short:16}{sum(ds):6} of {len(ds):<6}{f'{fmean(ds):.1%}':>7}"
        for dimension, ds in moved.items()
    ]


def agreement_lines(agreement: Agreement, *, most: int = 5) -> Iterator[str]:
    """Yield the lines for a terminal, with at most `most` disagreements of each dimension."""
    yield f"{agreement.judge}: {agreement.dialogues} dialogues over {agreement.scenarios} scenarios"
    yield "Cohen's kappa against the majority of the annotators"
    yield f"{'':16}{'dialogues':>10}{'plain':>8}{'95 %':>16}{'weighted':>10}{'95 %':>16}{'annotators':>13}"
    for reading in agreement.readings:
        name, *cells = _cells(reading)
        yield f"{name:16}" + "".join(map(str.rjust, cells, (10, 8, 16, 10, 16, 13)))
    yield "(annotators: Fleiss' kappa among themselves; weighted: by the square of the distance)"
    yield ""
    yield from table_5(agreement).text().splitlines()
    for reading in agreement.readings:
        yield ""
        yield from _reading_lines(reading, most)
    names_by_reason: dict[str, list[str]] = defaultdict(list)
    for name, why in agreement.faults.items():
        names_by_reason[why].append(name)
    for why, names in names_by_reason.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"not judged: {names[0]}{more}: {why}"


_NOTES: Final = (
    "Mean of annotators: as in the paper, of Cohen's kappas of the judge with each, over what each labelled.",
    "Among them: Fleiss' kappa.",
    "The paper's figures are of Claude 3.5 Sonnet and three people over 100 dialogues of its own.",
)


def table_5(agreement: Agreement) -> Table:
    """Return Table 5: the mean of the kappas with each annotator, which the paper gives; the kappa with the
    majority, which is higher, because it outvotes errors of single annotators; and Fleiss' kappa.
    """
    paper, rows = paper_rows(5), []
    header = ("", "mean of annotators", "majority", "among them", "paper: mean of 3", "paper: among them")
    for r in agreement.readings:
        kappas = (r.annotators_mean, r.majority.plain, r.fleiss)
        own = ["-" if kappa is None else f"{kappa:.3f}" for kappa in kappas]
        theirs = paper.get(r.dimension.short, {"judge": "-", "people": "-"})
        rows.append((r.dimension.short, *own, *theirs.values()))
    return Table(paper_title("Table 5", "how far the judge agrees with people"), header, tuple(rows), _NOTES)


def confusion_lines(reading: Reading) -> Iterator[str]:
    low, high = reading.dimension.scale
    scale = range(low, high + 1)
    yield f"{reading.dimension.short}: rows are the majority, columns the judge"
    yield "     " + "".join(f"{b:>5}" for b in scale)
    for a in scale:
        yield f"{a:>5}" + "".join(f"{reading.confusion.get(f'{a} -> {b}', 0):>5}" for b in scale)


def _reading_lines(reading: Reading, most: int) -> Iterator[str]:
    yield from confusion_lines(reading)
    for name, k in reading.annotators.items():
        weighted = f", weighted {_number(k.weighted)}" if reading.dimension.scale.high > 1 else ""
        yield f"  against {name}: kappa {_number(k.plain)}{weighted} over {k.dialogues}"
    for d in reading.disagreements[:most]:
        yield f"  {d.id}: judge {d.judge}, majority {d.majority}: {d.justification}"
        yield from (f"      {name} {d.labels.get(name, '-')}: {why}" for name, why in d.reasons.items())
    if len(reading.disagreements) > most:
        yield f"  and {len(reading.disagreements) - most} more disagreements (--all shows them)"


def agreement_markdown(agreement: Agreement) -> str:
    rows = [
        f"Judge: `{agreement.judge}`, {agreement.dialogues} dialogues over {agreement.scenarios} scenarios.",
        "",
        "| reading | dialogues | kappa | 95 % | weighted | 95 % | among annotators |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows += [f"| {' | '.join(_cells(reading))} |" for reading in agreement.readings]
    return "\n".join([*rows, "", table_5(agreement).markdown()])


def _cells(reading: Reading) -> tuple[str, ...]:
    """Return the row of a reading: its name, dialogues, both kappas with intervals, and Fleiss' kappa."""
    k = reading.majority
    graded = reading.dimension.scale.high > 1
    weighted = (_number(k.weighted), _interval(k.weighted_interval)) if graded else ("", "")
    plain = (_number(k.plain), _interval(k.plain_interval))
    return reading.dimension.short, str(k.dialogues), *plain, *weighted, _number(reading.fleiss)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(value: tuple[float, float] | None) -> str:
    return "-" if value is None else f"{value[0]:.2f} to {value[1]:.2f}"
