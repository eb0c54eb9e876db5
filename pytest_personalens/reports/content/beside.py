"""Compares the figures of two runs, and lists the scenarios with other scores.

It does not test for significance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escaped, figure, markdown_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.results.values.figures import Group
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


class MeanChange(NamedTuple):
    """The means of one group in both runs, by dimension.

    A mean is None if the run has none.
    """

    group: str
    means: dict[Dimension, tuple[float | None, float | None]]


class Changed(NamedTuple):
    """An item with different scores in the two runs."""

    name: str
    dimension: Dimension
    before: int | float
    after: int | float


class TwoRuns(NamedTuple):
    """The items that two runs share, and the differences between the runs.

    `only_before` and `only_after` count items that only one run scored.
    """

    moved: tuple[MeanChange, ...]
    changed: tuple[Changed, ...]
    both: int
    only_before: int
    only_after: int
    notes: tuple[str, ...]


def side_by_side(before: Results, after: Results) -> TwoRuns:
    """Return the figures of both runs, and the items with different scores.

    The items with the largest drop come first.
    """
    old, new = (_scored(results) for results in (before, after))
    shared = [key for key in new if key in old]
    changed = [
        Changed(_name(new[key]), dimension, was, now)
        for key in shared
        for dimension in Dimension
        if (was := old[key].evaluation.score(dimension)) is not None
        and (now := new[key].evaluation.score(dimension)) is not None
        and was != now
    ]
    return TwoRuns(
        moved=tuple(_moved(before, after)),
        changed=tuple(sorted(changed, key=lambda c: (c.after - c.before, c.name, c.dimension))),
        both=len(shared),
        only_before=len(old) - len(shared),
        only_after=len(new) - len(shared),
        notes=tuple(unlike(before, after)),
    )


def beside_lines(beside: TwoRuns, *, most: int | None = None) -> Iterator[str]:
    """Yield the comparison for a terminal, with at most `most` differing scores."""
    shown = _shown(beside)
    yield f"{'before -> after':20}" + "".join(f"{d.names.heading:>15}" for d in shown)
    for moved in beside.moved:
        yield harmless(f"{moved.group:20}" + "".join(f"{_pair(moved, d, '->'):>15}" for d in shown))
    yield ""
    yield overlap(beside)
    yield from (
        harmless(f"  {c.name}: {c.dimension.short} {c.before} -> {c.after}") for c in beside.changed[:most]
    )
    if most is not None and len(beside.changed) > most:
        yield f"  and {len(beside.changed) - most} more (-v lists them all)"
    yield from (harmless(f"note: {note}") for note in beside.notes)


def overlap(beside: TwoRuns) -> str:
    """Return one sentence on how many items of the two runs can be compared."""
    items = len({c.name for c in beside.changed})
    alone = [
        f"{n} only {when}" for n, when in ((beside.only_before, "before"), (beside.only_after, "after")) if n
    ]
    return f"scored in both: {beside.both}{''.join(f', {part}' for part in alone)}; scores differ in {items}"


def moved_table(beside: TwoRuns) -> list[str]:
    """Return the figures of both runs, as a Markdown table."""
    shown = _shown(beside)
    return markdown_table(
        ("", *(d.names.heading for d in shown)),
        [(escaped(m.group), *(_pair(m, d, "→") for d in shown)) for m in beside.moved],
    )


def _shown(beside: TwoRuns) -> list[Dimension]:
    return [d for d in Dimension if any(d in moved.means for moved in beside.moved)]


def _pair(moved: MeanChange, dimension: Dimension, arrow: str) -> str:
    before, after = moved.means.get(dimension, (None, None))
    return f"{figure(before)} {arrow} {figure(after)}"


def _moved(before: Results, after: Results) -> Iterator[MeanChange]:
    old, new = _groups(before), _groups(after)
    for name in {**new, **old}:
        pairs = {d: (_mean(old.get(name), d), _mean(new.get(name), d)) for d in Dimension}
        yield MeanChange(name, {d: pair for d, pair in pairs.items() if pair != (None, None)})


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


def unlike(before: Results, after: Results) -> Iterator[str]:
    """Yield the reasons why a difference may not be due to the assistant."""
    if before.dataset != after.dataset:
        yield f"the dataset was {before.dataset}, and is {after.dataset}"
    for what, field in (("user agent", "user_agent"), ("judge", "judge")):
        was, now = _identities(before, field), _identities(after, field)
        if was and now and was != now:
            yield (
                f"the {what} was {', '.join(was)}, and is {', '.join(now)}: scores may differ for that alone"
            )
    for name in (
        "context",
        "max_turns",
        "judge_votes",
        "assistant_prompt",
        "protocol",
        "prompts",
        "official_bugs",
        "user_agent",
    ):
        if before.settings.get(name) != after.settings.get(name):
            yield (
                f"{name.replace('_', ' ')} was {before.settings.get(name)!r}, and is"
                f" {after.settings.get(name)!r}"
            )


def _identities(results: Results, field: str) -> list[str]:
    return sorted({name for item in results.own if (name := getattr(item.evaluation, field))})
