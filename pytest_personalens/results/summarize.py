"""Computes the figures of a run from its items: means by domain and kind, causes, turns, usage."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.judging.measure import CRITERION
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.suite import get_suite
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.results.means import by_turn, estimate, figure_of, slices_of
from pytest_personalens.results.values.figures import Group, Mean, UserAudit
from pytest_personalens.results.values.item import Item, latency_of, without_short
from pytest_personalens.results.values.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.suite import Suite
    from pytest_personalens.results.values.figures import Drift

#: The fields of results that `summarize` does not compute from items.
FACTS: Final = (
    "settings", "dataset", "requested", "drawn", "complete", "lost", "unevaluated", "skipped", "of_controls",
    "missing_by_group", "left_out", "elsewhere", "drawn_from", "excluded", "calibration",
)  # fmt: skip


def summarize(
    items: Iterable[Item],
    *,
    settings: dict[str, Any],
    prices: Mapping[str, Price] = MappingProxyType({}),
    side_by_side: int = 1,
    **facts: Any,
) -> Results:
    """Return the results of `items`, in an order that does not depend on theirs.

    `facts` are further fields of the results, of `FACTS`. `prices` are those of the models, by role.
    `side_by_side` is the number of dialogues that ran at the same time.
    """
    for name in ("lost", "unevaluated", "skipped", "of_controls"):
        facts[name] = tuple(sorted(facts.get(name, ())))
    facts["missing_by_group"] = dict(sorted(facts.get("missing_by_group", {}).items()))
    ordered = tuple(
        _with_dollars(item, prices) for item in without_short(sorted(items, key=lambda i: i.nodeid))
    )
    criteria = dict.fromkeys(settings.get("criteria") or ())
    criteria |= dict.fromkeys(m.value for i in ordered for m in i.evaluation.read if m.startswith(CRITERION))
    suite = get_suite(settings.get("suite", FIRST_SUITE)).with_criteria(tuple(criteria))
    own = [i for i in ordered if not i.control]
    scored = [i for i in own if i.evaluation.scored]
    turns = [i.evaluation.dialogue.user_turns for i in scored]
    causes: Counter[Cause] = Counter(i.evaluation.cause for i in own if not i.evaluation.scored)
    usage: dict[str, Usage] = {}
    for item in ordered:
        for purpose, used in item.evaluation.usage.items():
            usage[purpose] = usage.get(purpose, Usage()) + used
    results = Results(
        suite=suite.name,
        criteria=tuple(criteria),
        settings=settings,
        **facts,
        leaks=_leaks(ordered) if suite.scenario.takes_answers else None,
        items=ordered,
        overall=group("overall", own, suite, whole=True),
        domains=tuple(
            group(d, [i for i in own if d in i.evaluation.domains], suite)
            for d in sorted({d for i in own for d in i.evaluation.domains})
        ),
        kinds=by_kind(own, suite),
        slices=slices_of(own, suite),
        uncounted=dict(sorted(causes.items())),
        user_audit=_user_audit(own),
        turns=Mean(value=_round(fmean(turns)) if turns else None, count=len(turns))
        if suite.has_turns
        else None,
        by_turn=tuple(Mean(value=_round(e.value), count=e.dialogues) for e in by_turn(scored))
        if suite.has_turns
        else (),
        latency=latency_of(own, side_by_side),
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
    """Return the role of a purpose: ``judge`` for ``judge tc`` and ``anchor judge tc``, else itself."""
    return "judge" if purpose.startswith(("judge ", "anchor judge ")) else purpose


def price_for(purpose: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a purpose: of the judge of this reading, or of the role that it belongs to."""
    by_role = prices.get(role_of(purpose))
    if purpose.startswith("judge criteria "):
        return prices.get("judge criteria", by_role)
    return prices.get(purpose.removeprefix("anchor "), by_role)


def group(name: str, items: Sequence[Item], suite: Suite, *, whole: bool = False) -> Group:
    """Return the figures of some items; only a `whole` run or control gets intervals, which take time."""
    found = {
        measure.value: (estimate(items, measure, ends=whole), measure.better) for measure in suite.measures
    }
    for metric in suite.metrics:
        if metric.of is not None:
            found[metric.name] = figure_of(metric, items, ends=whole), metric.better
    figures = {name: e.figure(better) for name, (e, better) in found.items() if e.dialogues}
    return Group(name=name, items=len(items), scored=sum(i.evaluation.scored for i in items), figures=figures)


def by_kind(items: Sequence[Item], suite: Suite) -> tuple[Group, ...]:
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


def _round(value: float | None) -> float | None:
    # The last bits of a sum may depend on the platform.
    return None if value is None else round(value, 6)
