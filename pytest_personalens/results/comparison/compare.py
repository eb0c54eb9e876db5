"""Compares a run with its baseline by scenario, tests for drops and slower replies."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from pytest_personalens.results.comparison.baseline import setup_of_item
from pytest_personalens.results.comparison.pairs import (
    OUTSIDE,
    PLACES,
    changes_in,
    compare_pairs,
    gains,
)
from pytest_personalens.results.means import by_user, in_order, mean, pair_means, scores_of
from pytest_personalens.results.stats.paired import adjust_holm, detectable, holm, sign_flip, step_of
from pytest_personalens.results.values.figures import Comparison, Difference, Flip, LatencyChange
from pytest_personalens.results.values.item import MARGIN, mean_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.comparison.baseline import Baseline, Entry
    from pytest_personalens.results.means import Key, Pairs, TrialScores
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

    #: A measure, and the kind of scenario that it is over; empty for all.
    Tested = tuple[Measure, str]


def compare_latency(baseline: Baseline, results: Results, *, level: float) -> LatencyChange | None:
    """Return how the mean time of a reply changed, over the scenarios that have one in both runs, if any.

    The test is `sign_flip` over users, one-sided. Runs with other numbers of dialogues side by side are not
    compared.
    """
    now = {item.key: value for item in results.own if (value := mean_time(item)) is not None}
    then = {entry.key: entry.latency for entry in baseline.entries if entry.latency is not None}
    both = sorted(now.keys() & then.keys())
    side = results.latency.side_by_side if results.latency is not None else baseline.side_by_side or 1
    if not both or (results.latency is None and not any(then[key] for key in both)):
        return None
    if baseline.side_by_side not in (None, side):
        return LatencyChange(side_by_side=side, then_side_by_side=baseline.side_by_side)
    pairs = {key: (Fraction(str(then[key])), Fraction(str(now[key]))) for key in both}
    changes = by_user({key: before - after for key, (before, after) in pairs.items()})
    before, after = (float(mean([pair[n] for pair in pairs.values()])) for n in (0, 1))
    p = sign_flip([sum(of_user, Fraction()) for of_user in changes])
    return LatencyChange(
        side_by_side=side,
        then_side_by_side=side,
        before=round(before, 2),
        after=round(after, 2),
        scenarios=len(pairs),
        p=p,
        slower=p <= level and after - before > MARGIN,
    )


#: Settings that change scores, whatever the assistant does.
_SETTINGS: Final = (
    "context", "max_turns", "judge_votes", "assistant_prompt", "protocol", "prompts", "official_bugs",
    "user_agent",
)  # fmt: skip
#: The reasons why only a part of what a scenario has was compared.
IN_PART: Final = (
    "not run now by each test that ran them then",
    "trials of one run beyond those of the other",
)
#: The probability of finding a drop of the size that is reported as detectable.
POWER: Final = 0.8


def compare_with_baseline(
    baseline: Baseline,
    results: Results,
    *,
    name: str,
    level: float,
    margins: Mapping[Measure, float],
    bounded: Collection[Measure] = (),
    notes: Iterable[str] = (),
) -> Comparison:
    """Return how the scores of `results` changed from `baseline`, whose file is `name`.

    The main measures of the suite (in PersonaLens, task completion, personalization and facts) and all
    measures with a margin are tested for a drop. The tests are corrected together (Holm 1979), so that a
    run without a change fails with a probability of at most `level`. A measure regressed if its drop is
    significant and larger than its margin. If low scores are good, a drop is a rise. For each measure in
    `bounded`, the comparison also holds the largest drop that is not excluded. With a `level` of 0 nothing is
    tested, and scenarios are compared whatever else differs.
    """
    own, suite = results.own, results.of_suite
    known, asked_now = {entry.key for entry in baseline.entries}, {item.scenario_key for item in own}
    alike = _keys_under_same_settings(baseline, own) if level else known
    now = [item for item in own if item.key in alike]
    scored = {dimension: (_then(baseline, dimension), scores_of(now, dimension)) for dimension in suite.gated}
    pairs = _pairs(scored)
    tested = [d for d in suite.gated if level and (d in suite.main or d in margins)]
    others = any(dimension in pairs for dimension in tested if dimension not in suite.free)
    gated = [
        dimension
        for dimension in tested
        if dimension in pairs
        # A free measure beside the others is tested where it can be decided, or where it was asked for.
        and (
            not (others and dimension in suite.free)
            or dimension in margins
            or _decidable(pairs[dimension], dimension, level / len(tested))
        )
    ]
    by_kind = _by_kind(pairs, gated, own, suite) if suite.kinds_apart else {}
    compared = {key for of_dimension in pairs.values() for key in of_dimension}
    changed, _ = baseline.changed_scenarios({item.scenario_key: item.content for item in own})
    scored_then = {entry.key for entry in baseline.entries if entry.scores and entry.key[:2] in asked_now}
    scored_now = {item.key for item in own if item.evaluation.scored}
    judged = {}
    for dimension, (then_of, now_of) in scored.items():
        keys = {*then_of, *now_of, *(i.key for i in now if dimension in i.evaluation.unread)} & alike
        judged[dimension] = len({key[:2] for key in keys} & compared)
    uneven = {
        key[:2]
        for then_of, now_of in (scored[dimension] for dimension in gated)
        for key in then_of.keys() & now_of.keys() & alike
        if len(then_of[key]) != len(now_of[key])
    }
    return Comparison(
        baseline=name,
        level=level,
        compared=len(compared),
        shared=len({entry.key[:2] for entry in baseline.entries} & asked_now),
        shared_by_test=len(scored_then),
        compared_by_test=len(scored_then & scored_now),
        differences=differences_of(
            {(dimension, ""): of_dimension for dimension, of_dimension in pairs.items()} | by_kind,
            gated=[*((dimension, "") for dimension in gated), *by_kind],
            level=level,
            margins=margins,
            bounded=bounded,
            judged={(dimension, ""): count for dimension, count in judged.items()}
            | {one: len(of_kind) for one, of_kind in by_kind.items()},
        ),
        one_sided={
            d: "then" if scored[d][0] else "now"
            for d in tested
            if compared and bool(scored[d][0]) != bool(scored[d][1])
        },
        flips=flips_of(own, {dimension: pairs[dimension] for dimension in (gated if level else pairs)}),
        left_out=_uncompared(
            {entry.key[:2]: entry.scenario for entry in baseline.entries},
            {entry.key[:2] for entry in baseline.entries if entry.scores},
            own,
            compared,
            by_other_tests=asked_now - {item.scenario_key for item in own if item.key in known},
            of_other_content={item.scenario_key for item in own if item.evaluation.scenario in changed},
            under_other_settings=asked_now - {key[:2] for key in alike},
            in_part={IN_PART[0]: {key[:2] for key in known - {item.key for item in own}}, IN_PART[1]: uneven},
        ),
        notes=tuple(notes),
    )


def differences_of(
    pairs: Mapping[Tested, Pairs],
    *,
    gated: Sequence[Tested],
    level: float,
    margins: Mapping[Measure, float],
    bounded: Collection[Measure],
    judged: Mapping[Tested, int],
) -> tuple[Difference, ...]:
    """Return how each measure changed over its pairs, and whether the gated ones regressed.

    The arguments are those of `compare_with_baseline`. `judged` counts the compared scenarios in which either
    run has a score on the measure. A kind in which no fall of all scores would be found is left out.
    """
    # At the level of the first test in Holm's procedure, a drop is found in any case.
    first_level = level / max(1, len(gated))
    gated = [(m, kind) for m, kind in gated if not kind or _decidable(pairs[m, kind], m, first_level)]
    own_level: dict[Tested, float] = {}
    changes = {(m, k): compare_pairs(m, its) for (m, k), its in pairs.items() if not k or (m, k) in gated}
    ps = [changes[one].p for one in gated]
    rejected = dict(zip(gated, holm(ps, level), strict=True)) if gated else {}
    for one, p, adjusted in zip(gated, ps, adjust_holm(ps), strict=True):
        # The level of its own test, so that the interval excludes no change exactly if the test rejects it.
        own_level[one] = level * p / adjusted if adjusted else first_level  # a p is rounded, also to 0
        changes[one] = compare_pairs(one[0], pairs[one], outside=own_level[one])
    differences = []
    for one, change in changes.items():
        dimension, kind = one
        margin, least, decidable = margins.get(dimension, 0.0), None, True
        if one in gated:
            least = detectable(
                gains(changes_in(pairs[one]), dimension),
                level=first_level,
                margin=margin,
                power=POWER,
                most=_room(change.before, pairs[one], dimension),
                step=step_of(dimension.grid),
            )
            decidable = _decidable(pairs[one], dimension, first_level)
        differences.append(
            Difference(
                **change.model_dump(),
                kind=kind,
                confidence=round(1 - 2 * own_level.get(one, OUTSIDE), 4),
                gated=one in gated,
                margin=margin,
                judged=judged[one],
                detectable=least,
                decidable=decidable,
                largest_drop=(
                    _largest_drop(dimension, pairs[one], level) if dimension in bounded and not kind else None
                ),
                regressed=rejected.get(one, False) and -dimension.sign * change.change > margin,
            )
        )
    return tuple(differences)


def _by_kind(
    pairs: Mapping[Measure, Pairs], gated: Collection[Measure], items: Sequence[Item], suite: Suite
) -> dict[Tested, Pairs]:
    """Return the pairs of the first main measure by kind, where it is gated and there are several kinds."""
    measure = suite.main[0]
    kinds: dict[Key, str] = {item.scenario_key: item.evaluation.kind for item in items}
    found = {
        (measure, kind): {key: both for key, both in pairs.get(measure, {}).items() if kinds[key] == kind}
        for kind in suite.kinds
    }
    found = {one: of_kind for one, of_kind in found.items() if of_kind}
    return found if measure in gated and len(found) > 1 else {}


def flips_of(items: Sequence[Item], pairs: Mapping[Measure, Pairs]) -> tuple[Flip, ...]:
    """Return every changed score, the largest drops, as shares of their scales, first."""
    runs: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        runs[item.scenario_key].append(item)
    flips = [
        Flip(
            scenario=runs[key][0].evaluation.scenario,
            user=runs[key][0].evaluation.user,
            task=runs[key][0].evaluation.task,
            dimension=dimension,
            before=round(float(before), 6),
            after=round(float(after), 6),
            nodeids=tuple(item.nodeid for item in runs[key]),
            records=tuple(item.transcript_file for item in runs[key] if item.transcript_file),
        )
        for dimension, sides in pairs.items()
        for key, (before, after) in sides.items()
        if before != after
    ]
    return tuple(
        sorted(flips, key=lambda f: f.dimension.sign * (f.after - f.before) / (f.dimension.span or 1))
    )


def _pairs(
    scored: Mapping[Measure, tuple[Mapping[Key, TrialScores], Mapping[Key, TrialScores]]],
) -> dict[Measure, Pairs]:
    """Return the means of each scenario before and after, by dimension with scores in both runs."""
    every = {dimension: pair_means(*sides) for dimension, sides in scored.items()}
    return {dimension: pairs for dimension, pairs in every.items() if pairs}


def _largest_drop(dimension: Measure, pairs: Pairs, level: float) -> float | None:
    from pytest_personalens.results.stats.paired import least_change

    assert dimension.span is not None  # no gate can ask for it
    least = least_change(gains(changes_in(pairs), dimension), dimension.span, level=level)
    return None if least is None else round(0.0 - least, PLACES)


def _decidable(pairs: Pairs, dimension: Measure, level: float) -> bool:
    """False if the sign-flip test would not reject at `level` even if every score fell that can."""
    able = len({user for (user, *_), (before, _) in pairs.items() if before != dimension.worst})
    return not able or 0.5**able <= level


def _room(before: float, pairs: Pairs, dimension: Measure) -> float:
    """Return the largest possible drop; without a worst score, the range of all scores in both runs."""
    if dimension.worst is not None:
        return abs(before - dimension.worst)
    seen = [score for both in pairs.values() for score in both]
    return float(max(max(seen) - min(seen), step_of(dimension.grid)))


def _then(baseline: Baseline, dimension: Measure) -> dict[Key, TrialScores]:
    scored = ((entry.key, entry.trial, entry.scores.get(dimension)) for entry in baseline.entries)
    return in_order(dimension, scored)


def _keys_under_same_settings(baseline: Baseline, items: Sequence[Item]) -> set[Key]:
    """Return the scenarios with the same content and settings, which a mark may change, in both runs."""
    then: dict[Key, Entry] = {entry.key: entry for entry in baseline.entries}
    return {
        item.key
        for item in items
        if item.key in then
        and setup_of_item(item) == {**baseline.terms.item_setup(), **then[item.key].setup}
        and item.content == then[item.key].content
    }


def _uncompared(
    then: Mapping[Key, str],
    scored_then: Collection[Key],
    items: Sequence[Item],
    compared: Collection[Key],
    *,
    by_other_tests: Collection[Key],
    of_other_content: Collection[Key],
    under_other_settings: Collection[Key],
    in_part: Mapping[str, Collection[Key]],
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the scenarios that could not be compared, each under the first reason that holds.

    `then` holds the ids of the scenarios of the other run, and `items` are those of this run. `in_part` maps
    a reason to scenarios of which only a part was compared.
    """
    now: dict[Key, str] = {item.scenario_key: item.evaluation.scenario for item in items}
    scored_now = {item.scenario_key for item in items if item.evaluation.scored}
    reasons: tuple[tuple[str, Collection[Key]], ...] = (
        ("not run now", then.keys() - now.keys()),
        ("not run then", now.keys() - then.keys()),
        ("run by other tests", by_other_tests),
        ("changed in the dataset", of_other_content),
        ("run under other settings", under_other_settings),
        ("not scored now", now.keys() - scored_now),
        ("not scored then", then.keys() - set(scored_then)),
        ("not scored on the same dimensions", then.keys() | now.keys()),
    )
    left = {**then, **now}.keys() - set(compared)
    by_reason: dict[str, tuple[str, ...]] = {}
    for why, keys in reasons:
        if here := left & set(keys):
            by_reason[why] = tuple(sorted(now.get(key) or then[key] for key in here))
            left -= here
    for what, keys in in_part.items():
        if here := set(keys) & set(compared):
            by_reason[what] = tuple(sorted(now[key] for key in here))
    return by_reason


def setup_differences(before: Results, after: Results) -> Iterator[str]:
    """Yield the reasons why a difference may not be due to the assistant."""
    if before.dataset != after.dataset:
        yield f"the dataset was {before.dataset}, and is {after.dataset}"
    for what, field in (("user agent", "user_agent"), ("judge", "judge")):
        was, now = (", ".join(_identities(results, field)) for results in (before, after))
        if was and now and was != now:
            yield f"the {what} was {was}, and is {now}: scores may differ for that alone"
    for name in _SETTINGS:
        old, new = before.settings.get(name), after.settings.get(name)
        if old != new:
            yield f"{name.replace('_', ' ')} was {old!r}, and is {new!r}"


def _identities(results: Results, field: str) -> list[str]:
    return sorted({name for item in results.own if (name := getattr(item.evaluation, field))})
