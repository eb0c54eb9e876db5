"""Computes the figures of a run from its items.

They are means by domain and kind, causes, turns, usage, trials and controls.
"""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.suite.suite import get_suite
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.results.means import (
    Estimate,
    answers_of,
    estimate,
    figure_of,
    item_scores,
    scenario_means,
    scores_by_turn,
    scores_of,
)
from pytest_personalens.results.values.figures import Figure, Group, Mean, UserAudit
from pytest_personalens.results.values.item import Item
from pytest_personalens.results.values.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.suite.suite import Suite
    from pytest_personalens.results.values.drift import Drift


def summarize(
    items: Iterable[Item],
    *,
    settings: dict[str, Any],
    dataset: str,
    requested: int,
    drawn: int,
    lost: Sequence[str] = (),
    unevaluated: Sequence[str] = (),
    skipped: Sequence[str] = (),
    of_controls: Sequence[str] = (),
    missing_by_group: Mapping[str, int] = MappingProxyType({}),
    left_out: int = 0,
    prices: Mapping[str, Price] = MappingProxyType({}),
    complete: bool = True,
    drawn_from: Mapping[str, int] = MappingProxyType({}),
    excluded: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> Results:
    """Return the results of `items`, in a fixed order.

    The order does not depend on the order of `items`. `prices` are the prices of the models, by role.
    `drawn_from` and `excluded` say what the dataset has, by kind.
    """
    suite = get_suite(settings.get("suite", FIRST_SUITE))
    ordered = tuple(_with_dollars(item, prices) for item in sorted(items, key=lambda i: i.nodeid))
    own = [i for i in ordered if not i.arm]
    scored = [i for i in own if i.evaluation.scored]
    causes: Counter[Cause] = Counter(i.evaluation.cause for i in own if not i.evaluation.scored)
    usage: dict[str, Usage] = {}
    for item in ordered:
        for purpose, used in item.evaluation.usage.items():
            usage[purpose] = usage.get(purpose, Usage()) + used
    results = Results(
        suite=suite.name,
        settings=settings,
        dataset=dataset,
        requested=requested,
        drawn=drawn,
        complete=complete,
        lost=tuple(sorted(lost)),
        unevaluated=tuple(sorted(unevaluated)),
        skipped=tuple(sorted(skipped)),
        of_controls=tuple(sorted(of_controls)),
        missing_by_group=dict(sorted(missing_by_group.items())),
        left_out=left_out,
        drawn_from=dict(drawn_from),
        excluded={kind: dict(reasons) for kind, reasons in excluded.items()},
        leaks=_leaks(ordered) if suite.scenario.takes_answers else None,
        items=ordered,
        overall=group("overall", own, suite, whole=True),
        domains=tuple(
            group(d, [i for i in own if d in i.evaluation.domains], suite)
            for d in sorted({d for i in own for d in i.evaluation.domains})
        ),
        kinds=by_kind(own, suite),
        uncounted=dict(sorted(causes.items())),
        user_audit=_user_audit(own),
        turns=_mean([i.evaluation.dialogue.user_turns for i in scored]) if suite.has_turns else None,
        by_turn=tuple(_by_turn(scored)) if suite.has_turns else (),
        unfound_quotes=sum(v.unfound_quotes for i in ordered for v in i.evaluation.verdicts),
        unsupported=sum(v.unsupported for i in ordered for v in i.evaluation.verdicts),
        usage=dict(sorted(usage.items())),
        usd=_dollars(usage, prices),
    )
    if missing := results.missing:
        causes.update({cause: len(nodeids) for cause, nodeids in missing.items()})
        results = results.model_copy(update={"uncounted": dict(sorted(causes.items()))})
    return results


def with_drift(
    results: Results, drift: Drift, usage: Mapping[str, Usage], *, prices: Mapping[str, Price]
) -> Results:
    """Return the results with the outcome and the usage of adopting or checking the judge."""
    total = dict(sorted({**results.usage, **usage}.items()))
    return results.model_copy(update={"drift": drift, "usage": total, "usd": _dollars(total, prices)})


def role_of(purpose: str) -> str:
    """Return the role that a purpose belongs to.

    ``judge tc`` and ``anchor judge tc`` belong to ``judge``. ``user agent`` and ``assistant`` are roles
    themselves.
    """
    return "judge" if purpose.startswith(("judge ", "anchor judge ")) else purpose


def price_for(purpose: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a purpose: of the judge of this reading, or of the role that it belongs to."""
    return prices.get(purpose.removeprefix("anchor "), prices.get(role_of(purpose)))


def group(name: str, items: Sequence[Item], suite: Suite, *, whole: bool = False) -> Group:
    """Return the figures of some items.

    Only a `whole` run or control gets intervals, because they take time to compute.
    """
    figures = {}
    for measure in suite.measures:
        if scores := scores_of(items, measure):
            estimated = estimate(item_scores(items), measure) if whole else Estimate(None)
            figures[measure.value] = Figure(
                value=round(float(fmean(scenario_means(scores).values())), 6),
                count=sum(map(len, scores.values())),
                low=_rounded(estimated.low),
                high=_rounded(estimated.high),
                better=measure.better,
            )
    for metric in suite.metrics:
        if metric.of is not None and (answers := answers_of(metric, items)):
            value = metric.of([answer for of_scenario in answers.values() for answer in of_scenario])
            estimated = figure_of(metric, items) if whole else Estimate(None)
            figures[metric.name] = Figure(
                value=_rounded(value),
                count=sum(map(len, answers.values())),
                low=_rounded(estimated.low),
                high=_rounded(estimated.high),
                better=metric.better,
            )
    return Group(name=name, items=len(items), scored=sum(i.evaluation.scored for i in items), figures=figures)


def by_kind(items: Sequence[Item], suite: Suite) -> tuple[Group, ...]:
    """Return the figures of the items of each kind that occurs."""
    present = {i.evaluation.kind for i in items}
    kinds = [kind for kind in suite.kinds if kind in present]
    return tuple(group(k, [i for i in items if i.evaluation.kind == k], suite) for k in kinds)


def _user_audit(items: Sequence[Item]) -> UserAudit | None:
    audited = [i.evaluation for i in items if i.evaluation.user_faults is not None]
    if not audited:
        return None
    kinds = [{fault.code for fault in e.user_faults or ()} for e in audited]
    faults = Counter(code for codes in kinds for code in codes)
    lost = Counter(fault.code for e in audited if (fault := e.lost_to_user) is not None)
    return UserAudit(
        audited=len(audited),
        faulty=sum(map(bool, kinds)),
        faults=dict(sorted(faults.items())),
        lost=dict(sorted(lost.items())),
    )


def _leaks(items: Sequence[Item]) -> dict[str, int]:
    answers = [item.evaluation.answer for item in items]
    leaks = Counter(leak for answer in answers if answer is not None for leak in answer.leaks)
    return dict(sorted(leaks.items()))


def _dollars(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> dict[str, float]:
    priced = {p: price_for(p, prices) for p in sorted(usage)}
    return {p: round(price.of(usage[p]), 6) for p, price in priced.items() if price is not None}


def _with_dollars(item: Item, prices: Mapping[str, Price]) -> Item:
    usd = _dollars(item.evaluation.usage, prices)
    return item.model_copy(update={"usd": round(sum(usd.values()), 6)}) if usd else item


def _by_turn(scored: Sequence[Item]) -> Iterator[Mean]:
    for scores in scores_by_turn((one.key, one.turns) for one in item_scores(scored)):
        yield Mean(
            value=round(fmean(scenario_means(scores).values()), 6), count=sum(map(len, scores.values()))
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _mean(values: Sequence[float]) -> Mean:
    # The value is rounded, so that the last bits of a sum do not depend on the platform.
    return Mean(value=round(sum(values) / len(values), 6) if values else None, count=len(values))
