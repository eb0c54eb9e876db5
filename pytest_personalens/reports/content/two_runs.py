"""Compares the figures of two runs, and lists the scenarios with other scores. It tests no significance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escape, figure, name_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.results.values.figures import Group
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: Settings that change scores, whatever the assistant does.
_SETTINGS: Final = (
    "context",
    "max_turns",
    "judge_votes",
    "assistant_prompt",
    "protocol",
    "prompts",
    "official_bugs",
    "user_agent",
)
#: The means of one group in both runs; None where a run has none.
Means = dict[Dimension, tuple[float | None, float | None]]


class ChangedScore(NamedTuple):
    """An item with different scores in the two runs."""

    name: str
    dimension: Dimension
    before: int | float
    after: int | float


class RunPair(NamedTuple):
    """The means of two runs by group, and the items with different scores, those with the largest drop first.

    `both` items were scored in both runs, `only_before` and `only_after` in one of them. `notes` say why a
    difference may not be due to the assistant.
    """

    groups: dict[str, Means]
    changed: tuple[ChangedScore, ...]
    both: int
    only_before: int
    only_after: int
    notes: tuple[str, ...]


def compare_runs(before: Results, after: Results) -> RunPair:
    """Compare two runs, item by item and group by group."""
    old, new = (_scored(results) for results in (before, after))
    shared = [key for key in new if key in old]
    changed = [
        ChangedScore(_name(new[key]), dimension, was, now)
        for key in shared
        for dimension in Dimension
        if (was := old[key].evaluation.score(dimension)) is not None
        and (now := new[key].evaluation.score(dimension)) is not None
        and was != now
    ]
    changed.sort(key=lambda c: (c.after - c.before, c.name, c.dimension))
    alone = len(old) - len(shared), len(new) - len(shared)
    notes = tuple(setup_differences(before, after))
    return RunPair(_means_by_group(before, after), tuple(changed), len(shared), *alone, notes)


def beside_lines(beside: RunPair, *, most: int | None = None) -> Iterator[str]:
    """Yield the comparison for a terminal, with at most `most` differing scores."""
    shown = _shown(beside)
    names, first = name_column(beside.groups, 20)
    yield f"{'before -> after':{first}}" + "".join(f"{d.names.heading:>15}" for d in shown)
    for name, means in zip(names, beside.groups.values(), strict=True):
        yield harmless(f"{name:{first}}" + "".join(f"{_pair(means, d, '->'):>15}" for d in shown))
    yield ""
    yield overlap(beside)
    for c in beside.changed[:most]:
        yield harmless(f"  {c.name}: {c.dimension.short} {c.before} -> {c.after}")
    if most is not None and len(beside.changed) > most:
        yield f"  and {len(beside.changed) - most} more (-v lists them all)"
    yield from (harmless(f"note: {note}") for note in beside.notes)


def overlap(beside: RunPair) -> str:
    """Return one sentence on how many items of the two runs can be compared."""
    items = len({c.name for c in beside.changed})
    alone = {"before": beside.only_before, "after": beside.only_after}
    parts = "".join(f", {n} only {when}" for when, n in alone.items() if n)
    return f"scored in both: {beside.both}{parts}; scores differ in {items}"


def moved_rows(beside: RunPair) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the figures of both runs as the header and the rows of a Markdown table."""
    shown = _shown(beside)
    rows = [(escape(group), *(_pair(means, d, "→") for d in shown)) for group, means in beside.groups.items()]
    return ("", *(d.names.heading for d in shown)), rows


def _shown(beside: RunPair) -> list[Dimension]:
    return [d for d in Dimension if any(d in means for means in beside.groups.values())]


def _pair(means: Means, dimension: Dimension, arrow: str) -> str:
    before, after = means.get(dimension, (None, None))
    return f"{figure(before)} {arrow} {figure(after)}"


def _means_by_group(before: Results, after: Results) -> dict[str, Means]:
    old, new = _groups(before), _groups(after)
    found: dict[str, Means] = {}
    for name in {**new, **old}:
        pairs = {d: (_mean(old.get(name), d), _mean(new.get(name), d)) for d in Dimension}
        found[name] = {d: pair for d, pair in pairs.items() if pair != (None, None)}
    return found


def _mean(group: Group | None, dimension: Dimension) -> float | None:
    mean = None if group is None else group.figures.get(dimension.value)
    return None if mean is None else mean.value


def _groups(results: Results) -> dict[str, Group]:
    kinds = results.kinds if len(results.kinds) > 1 else ()
    return {group.name: group for group in (results.overall, *kinds, *results.domains)}


def _scored(results: Results) -> dict[tuple[str, ...], Item]:
    return {(*item.key, str(item.trial)): item for item in results.own if item.evaluation.scored}


def _name(item: Item) -> str:
    trial = f", trial {item.trial}" if item.trial > 1 else ""
    return f"{item.evaluation.scenario} ({item.key[-1]}{trial})"


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
