"""Makes the results of a run from its items: figures, then trials, controls, comparison and gates."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.message import number_call_ids
from pytest_personalens.core.judging.measure import CRITERION, get_measure
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.options.gate import measure_of
from pytest_personalens.core.suite import get_suite
from pytest_personalens.results.comparison.pairs import controls_of, trials_of
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.means import by_kind, by_turn, group, slices_of
from pytest_personalens.results.values.figures import Mean, UserAudit
from pytest_personalens.results.values.item import (
    Earlier,
    Item,
    codes_in,
    latency_of,
    scores_in,
    without_short,
)
from pytest_personalens.results.values.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.core.judging.evaluation import Cause
    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.figures import Drift

#: Lists of node ids among the facts.
NODE_IDS: Final = ("lost", "unevaluated", "skipped", "of_controls")
#: The fields of results that `summarize` does not compute from items.
FACTS: Final = (
    "settings", "dataset", "requested", "drawn", "complete", *NODE_IDS, "missing_by_group", "left_out",
    "elsewhere", "drawn_from", "excluded", "calibration",
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
    facts |= {name: tuple(sorted(facts.get(name, ()))) for name in NODE_IDS}
    facts["missing_by_group"] = dict(sorted(facts.get("missing_by_group", {}).items()))
    ordered = tuple(
        _with_dollars(item, prices) for item in without_short(sorted(items, key=lambda i: i.nodeid))
    )
    verdicts = [verdict for item in ordered for verdict in item.evaluation.verdicts]
    criteria = dict.fromkeys(settings.get("criteria") or ())
    criteria |= dict.fromkeys(m.value for i in ordered for m in i.evaluation.read if m.startswith(CRITERION))
    suite = get_suite(settings.get("suite", FIRST_SUITE)).with_criteria(tuple(criteria))
    own = [i for i in ordered if not i.control]
    scored = [i for i in own if i.evaluation.scored]
    turns = [i.evaluation.dialogue.user_turns for i in scored] if suite.has_turns else []
    means = by_turn(scored) if suite.has_turns else []
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
        turns=_mean(fmean(turns) if turns else None, len(turns)) if suite.has_turns else None,
        by_turn=tuple(_mean(e.value, e.dialogues) for e in means),
        latency=latency_of(own, side_by_side),
        unfound_quotes=sum(verdict.unfound_quotes for verdict in verdicts),
        unsupported=sum(verdict.unsupported for verdict in verdicts),
        usage=dict(sorted(usage.items())),
        usd=_dollars(usage, prices),
    )
    if missing := results.missing:
        causes.update({cause: len(nodeids) for cause, nodeids in missing.items()})
        results = results.model_copy(update={"uncounted": dict(sorted(causes.items()))})
    return results


def _mean(value: float | None, count: int) -> Mean:
    # The last bits of a sum may depend on the platform.
    return Mean(value=None if value is None else round(value, 6), count=count)


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


def _dollars(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> dict[str, float]:
    priced = {p: price_for(p, prices) for p in sorted(usage)}
    return {p: round(price.of(usage[p]), 6) for p, price in priced.items() if price is not None}


def _with_dollars(item: Item, prices: Mapping[str, Price]) -> Item:
    usd = _dollars(item.evaluation.usage, prices)
    return item.model_copy(update={"usd": round(sum(usd.values()), 6)}) if usd else item


def conclude(results: Results, s: Settings, baseline: Baseline | None) -> Results:
    """Return the results with trials, controls, comparison and gates; the last two of a complete run only.

    The settings `s` hold the gates, the level and the margins.
    """
    update = dict[str, object]()
    if s.trials > 1:
        update["trials"] = trials_of(results.own, s.trials, results.of_suite)
    if s.control:
        update["controls"] = controls_of(results.items, results.of_suite)
    results = attach_replayed(results.model_copy(update=update))
    # A cap ends a run in order, and its items are skipped. Items that could not be scored are skipped too if
    # nothing may fail the run. If no item is left, the run must not count as a success.
    nothing = not results.overall.scored and (
        "budget" in results.uncounted or (s.report_only and results.expected > 0)
    )
    if not results.complete or not (s.asks_for_gates or nothing):
        return results
    if baseline is not None:
        # Imported only if the run needs it, because the import would slow down a replay.
        from pytest_personalens.results.comparison.compare import compare_latency, compare_with_baseline

        margins = {get_measure(name): margin for name, margin in s.margin}
        results = attach_earlier(results, baseline)
        drops = (gate for gate in s.gate if gate.metric == "drop")
        bounded = [measure for gate in drops if (measure := measure_of(gate, results.of_suite)) is not None]
        comparison = compare_with_baseline(
            baseline, results, name=str(s.baseline), level=s.level, margins=margins, bounded=bounded
        )
        # One more test beside those of the scores, at its share of the level.
        level = s.level / (1 + sum(d.gated for d in comparison.differences))
        latency = compare_latency(baseline, results, level=level)
        comparison = comparison.model_copy(update={"latency": latency})
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None
    return results.model_copy(update={"gates": check_gates(results, s.gate, measured=measured)})


def attach_replayed(results: Results) -> Results:
    """Return the results, where records hold other dialogues, with what the replayed ones were: as now.

    Where all records are replayed, nothing is known of before.
    """
    if all(item.earlier is None for item in results.own):
        return results

    def attached(item: Item) -> Item:
        if item.earlier is not None or item.record != "replayed" or not item.evaluation.scored:
            return item
        verdicts = item.evaluation.verdicts
        earlier = Earlier(source="record", scores=scores_in(verdicts), reasons=codes_in(verdicts))
        return item.model_copy(update={"earlier": earlier})

    return results.model_copy(update={"items": tuple(map(attached, results.items))})


def attach_earlier(results: Results, baseline: Baseline, *, scores: bool = True) -> Results:
    """Return the results with what a baseline knows of their items.

    What was said is a record's, where the baseline does not hold it, and left out where it is what is said
    now. Runs that cannot be compared keep nothing of the old `scores` and reasons.
    """
    then = {(*entry.key, entry.trial): entry for entry in baseline.entries if entry.scores}

    def attached(item: Item) -> Item:
        entry = then.get((*item.key, item.trial))
        messages = () if item.earlier is None else item.earlier.messages
        if entry is not None and entry.name in baseline.dialogues:
            messages = baseline.dialogues[entry.name]
            if number_call_ids(messages) == number_call_ids(item.evaluation.dialogue.messages):
                messages = ()
        known = {} if entry is None or not scores else {"scores": entry.scores, "reasons": entry.reasons}
        earlier = Earlier(source="baseline", messages=messages, **known)
        return item.model_copy(update={"earlier": earlier})

    items = tuple(item if item.control else attached(item) for item in results.items)
    return results.model_copy(update={"items": items})
