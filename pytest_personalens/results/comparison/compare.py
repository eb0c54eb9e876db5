"""Compares a run with its baseline by scenario, and tests for drops and slower replies."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.results.comparison.baseline import setup_of_item
from pytest_personalens.results.comparison.pairs import OUTSIDE, PLACES, changes_in, compare_pairs
from pytest_personalens.results.means import by_user, in_order, mean, pair_means, scores_of
from pytest_personalens.results.stats.paired import detectable, holm, least_change, sign_flip, step_of
from pytest_personalens.results.values.figures import Comparison, Difference, Flip, LatencyChange
from pytest_personalens.results.values.item import MARGIN, mean_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.means import Key, Pairs
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

    #: A measure, and the kind of scenario that it is over; empty for all.
    Tested = tuple[Measure, str]

#: Settings that change scores, whatever the assistant does.
_SETTINGS: Final = (
    "context", "max_turns", "judge_votes", "assistant_prompt", "protocol", "prompts", "official_bugs",
    "user_agent",
)  # fmt: skip


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
    faster = by_user({key: before - after for key, (before, after) in pairs.items()})
    before, after = (float(mean([pair[n] for pair in pairs.values()])) for n in (0, 1))
    p = sign_flip([sum(of_user, Fraction()) for of_user in faster])
    return LatencyChange(
        side_by_side=side,
        then_side_by_side=side,
        before=round(before, 2),
        after=round(after, 2),
        scenarios=len(pairs),
        p=p,
        slower=p <= level and after - before > MARGIN,
    )


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
    known = {entry.key for entry in baseline.entries}
    alike = _keys_under_same_settings(baseline, own) if level else known
    now = [item for item in own if item.key in alike]
    scored = {
        m: (in_order(m, ((e.key, e.trial, e.scores.get(m)) for e in baseline.entries)), scores_of(now, m))
        for m in suite.gated
    }
    pairs = {m: of_measure for m, sides in scored.items() if (of_measure := pair_means(*sides))}
    compared = {key for of_measure in pairs.values() for key in of_measure}
    tested = [m for m in suite.gated if level and (m in suite.main or m in margins)]
    others = any(m in pairs for m in tested if m not in suite.free)
    gated = [
        m
        for m in tested
        if m in pairs
        # A free measure beside the others is tested where it can be decided, or where it was asked for.
        and (not (others and m in suite.free) or m in margins or _decidable(pairs[m], m, level / len(tested)))
    ]
    judged: dict[Tested, int] = {}
    for m, sides in scored.items():
        keys = {key for side in sides for key in side} | {i.key for i in now if m in i.evaluation.unread}
        judged[m, ""] = len({key[:2] for key in keys & alike} & compared)
    every: dict[Tested, Pairs] = {(m, ""): of_measure for m, of_measure in pairs.items()}
    if suite.kinds_apart and (first := suite.main[0]) in gated:
        kinds = {item.scenario_key: item.evaluation.kind for item in own}
        of_kinds: dict[Tested, Pairs] = {}
        for key, both in pairs[first].items():
            of_kinds.setdefault((first, kinds[key[0], key[1]]), {})[key] = both
        if len(of_kinds) > 1:
            every |= {one: of_kinds[one] for kind in suite.kinds if (one := (first, kind)) in of_kinds}
            judged |= {one: len(of_kind) for one, of_kind in of_kinds.items()}
    uneven = {
        key[:2]
        for then_of, now_of in map(scored.__getitem__, gated)
        for key in then_of.keys() & now_of.keys() & alike
        if len(then_of[key]) != len(now_of[key])
    }
    asked_now = {item.scenario_key for item in own}
    scored_then = {entry.key for entry in baseline.entries if entry.scores and entry.key[:2] in asked_now}
    return Comparison(
        baseline=name,
        level=level,
        compared=len(compared),
        shared=len({key[:2] for key in known} & asked_now),
        shared_by_test=len(scored_then),
        compared_by_test=len(scored_then & {item.key for item in own if item.evaluation.scored}),
        differences=_differences(
            every,
            [one for one in every if one[0] in gated],
            judged,
            level=level,
            margins=margins,
            bounded=bounded,
        ),
        one_sided={
            m: "then" if scored[m][0] else "now"
            for m in tested
            if compared and bool(scored[m][0]) != bool(scored[m][1])
        },
        flips=_flips(own, {m: pairs[m] for m in (gated if level else pairs)}),
        left_out=_left_out(baseline, own, alike, compared, uneven),
        notes=tuple(notes),
    )


def _differences(
    pairs: Mapping[Tested, Pairs],
    gated: Sequence[Tested],
    judged: Mapping[Tested, int],
    *,
    level: float,
    margins: Mapping[Measure, float],
    bounded: Collection[Measure],
) -> tuple[Difference, ...]:
    """Return how each measure changed over its pairs, and whether the gated ones regressed.

    `judged` counts the compared scenarios in which either run has a score on the measure. A kind in which no
    fall of all scores would be found is left out.
    """
    # At the level of the first test in Holm's procedure, a drop is found in any case.
    first_level = level / max(1, len(gated))
    gated = [(m, kind) for m, kind in gated if not kind or _decidable(pairs[m, kind], m, first_level)]
    changes = {(m, k): compare_pairs(m, its) for (m, k), its in pairs.items() if not k or (m, k) in gated}
    corrected = dict(zip(gated, holm([changes[one].p for one in gated]), strict=True))
    differences = []
    for (measure, kind), change in changes.items():
        its, margin, outside = pairs[measure, kind], margins.get(measure, 0.0), OUTSIDE
        found: dict[str, Any] = {"margin": margin, "judged": judged[measure, kind]}
        if (measure, kind) in corrected:
            p = corrected[measure, kind]
            # The level of its own test: the interval excludes no change exactly if the test rejects it.
            outside = level * change.p / p if p else first_level  # a p is rounded, also to 0
            change = compare_pairs(measure, its, outside=outside)
            # The largest possible drop; without a worst score, the range of all scores in both runs.
            seen, worst = [score for both in its.values() for score in both], measure.worst
            step = step_of(measure.grid)
            room = max(max(seen) - min(seen), step) if worst is None else abs(change.before - worst)
            found |= {
                "gated": True,
                "regressed": p <= level and -measure.sign * change.change > margin,
                "decidable": _decidable(its, measure, first_level),
                "detectable": detectable(
                    changes_in(its), level=first_level, margin=margin, most=float(room), step=step
                ),
            }
        if measure in bounded and not kind:
            assert measure.span is not None  # no gate can ask for it
            gains = [[measure.sign * one for one in of_user] for of_user in changes_in(its)]
            least = least_change(gains, measure.span, level=level)
            found["largest_drop"] = None if least is None else round(0.0 - least, PLACES)
        confidence = round(1 - 2 * outside, 4)
        differences.append(Difference(**change.model_dump(), kind=kind, confidence=confidence, **found))
    return tuple(differences)


def _decidable(pairs: Pairs, measure: Measure, level: float) -> bool:
    """False if the sign-flip test would not reject at `level` even if every score fell that can."""
    able = len({user for (user, *_), (before, _) in pairs.items() if before != measure.worst})
    return not able or 0.5**able <= level


def _flips(items: Sequence[Item], pairs: Mapping[Measure, Pairs]) -> tuple[Flip, ...]:
    """Return every changed score, the largest drops, as shares of their scales, first."""
    runs: defaultdict[Key, list[Item]] = defaultdict(list)
    for item in items:
        runs[item.scenario_key].append(item)
    flips = [
        Flip(
            scenario=runs[key][0].evaluation.scenario,
            user=key[0],
            task=key[1],
            dimension=measure,
            before=round(float(before), 6),
            after=round(float(after), 6),
            nodeids=tuple(item.nodeid for item in runs[key]),
            records=tuple(item.transcript_file for item in runs[key] if item.transcript_file),
        )
        for measure, sides in pairs.items()
        for key, (before, after) in sides.items()
        if before != after
    ]
    share = lambda f: f.dimension.sign * (f.after - f.before) / (f.dimension.span or 1)  # noqa: E731
    return tuple(sorted(flips, key=share))


def _keys_under_same_settings(baseline: Baseline, items: Sequence[Item]) -> set[Key]:
    """Return the scenarios with the same content and settings, which a mark may change, in both runs."""
    then, setup = {entry.key: entry for entry in baseline.entries}, baseline.terms.item_setup()
    return {
        item.key
        for item in items
        if (entry := then.get(item.key)) is not None
        and setup_of_item(item) == {**setup, **entry.setup}
        and item.content == entry.content
    }


def _left_out(
    baseline: Baseline,
    items: Sequence[Item],
    alike: Collection[Key],
    compared: Collection[Key],
    uneven: Collection[Key],
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the scenarios that could not be compared, each under the first reason that holds.

    The last two reasons are of scenarios of which only a part was compared; `uneven` are those with trials in
    one run beyond those of the other.
    """
    then: dict[Key, str] = {entry.key[:2]: entry.scenario for entry in baseline.entries}
    now: dict[Key, str] = {item.scenario_key: item.evaluation.scenario for item in items}
    known, run_now = {entry.key for entry in baseline.entries}, {item.key for item in items}
    contents = {entry.key[:2]: entry.content for entry in baseline.entries}
    left = {**then, **now}.keys() - set(compared)
    whole: dict[str, Collection[Key]] = {
        "not run now": then.keys() - now.keys(),
        "not run then": now.keys() - then.keys(),
        "run by other tests": now.keys() - {key[:2] for key in run_now & known},
        "changed in the dataset": {
            item.scenario_key
            for item in items
            if contents.get(item.scenario_key, item.content) != item.content
        },
        "run under other settings": now.keys() - {key[:2] for key in alike},
        "not scored now": now.keys() - {item.scenario_key for item in items if item.evaluation.scored},
        "not scored then": then.keys() - {entry.key[:2] for entry in baseline.entries if entry.scores},
        "not scored on the same dimensions": left,
    }
    in_part: dict[str, Collection[Key]] = {
        "not run now by each test that ran them then": {key[:2] for key in known - run_now},
        "trials of one run beyond those of the other": uneven,
    }
    found: dict[str, set[Key]] = {}
    for why, keys in whole.items():
        found[why] = left & set(keys)
        left = left - found[why]
    found |= {what: set(keys) & set(compared) for what, keys in in_part.items()}
    return {
        why: tuple(sorted(now.get(key) or then[key] for key in keys)) for why, keys in found.items() if keys
    }


def setup_differences(before: Results, after: Results) -> Iterator[str]:
    """Yield the reasons why a difference may not be due to the assistant."""
    if before.dataset != after.dataset:
        yield f"the dataset was {before.dataset}, and is {after.dataset}"
    for what, field in (("user agent", "user_agent"), ("judge", "judge")):
        was, now = (
            ", ".join(sorted({name for item in run.own if (name := getattr(item.evaluation, field))}))
            for run in (before, after)
        )
        if was and now and was != now:
            yield f"the {what} was {was}, and is {now}: scores may differ for that alone"
    for name in _SETTINGS:
        old, new = before.settings.get(name), after.settings.get(name)
        if old != new:
            yield f"{name.replace('_', ' ')} was {old!r}, and is {new!r}"
