"""Prints the measures of one or several datasets as one table, and what is wrong with them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite import DataCheck
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.datasets.quality.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.datasets.quality.measures import Quality

#: With fewer people, a share of them is chance, and has no goal.
_COMPARABLE: Final = 30
_OF_PEOPLE: Final = frozenset({"120 or more", "0.85 or more", "60% at most", "3 points at most"})
#: The demographic attributes in which a dataset should be like the paper's.
_HELD: Final = ("age", "gender", "region", "religion", "employment_status", "education")
#: The number of examples of each rule without --all.
_EXAMPLES: Final = 3
_Row = tuple[str, "Callable[[Quality], str]", str]


def data_check(data: Quality) -> DataCheck:
    """Return the quality of a dataset in the form that the command prints."""
    few = data.users < _COMPARABLE
    line = (
        f"{data.users} of the {_COMPARABLE} people from which on shares and evenness say something, so these"
        " have no goal here"
    )
    return DataCheck(
        dataset=data.dataset,
        rows=[(name, show(data), "" if few and goal in _OF_PEOPLE else goal) for name, show, goal in _ROWS],
        summary=(line,) if few else (),
        findings=data.findings,
        rules=len(RULES),
        report=data.model_dump(mode="json"),
    )


def overview(checks: Sequence[DataCheck]) -> Iterator[str]:
    """Yield one table of datasets that have the same measures, side by side."""
    columns = [[one_line(check.dataset), *(value for _, value, _ in check.rows)] for check in checks]
    widths = [max(map(len, column)) + 3 for column in columns]
    labels = [("", "goal"), *((label, goal) for label, _, goal in checks[0].rows)]
    for number, (label, goal) in enumerate(labels):
        cells = "".join(column[number].ljust(width) for column, width in zip(columns, widths, strict=True))
        yield one_line(f"{label:<34}{cells}{goal}".rstrip())


def finding_lines(check: DataCheck, *, every: bool) -> Iterator[str]:
    """Yield the findings by rule: a few examples of each, or `every` one."""
    by_rule = defaultdict(list)
    for problem in check.findings:
        by_rule[problem.rule].append(problem)
    if not by_rule:
        yield one_line(f"{check.dataset}: no findings ({check.rules} rules)")
    for rule, problems in by_rule.items():
        yield one_line(f"{check.dataset}: {rule}: {len(problems):,}")
        shown = problems if every else problems[:_EXAMPLES]
        yield from (
            one_line("  " + ": ".join(part for part in (p.file, p.field, p.message) if part)) for p in shown
        )
        if len(shown) < len(problems):
            yield f"  and {len(problems) - len(shown)} more (--all shows them)"


def _top(data: Quality) -> str:
    held = [(t.top_share, t.top_value) for t in data.types if t.categorical]
    return "{1:.18} {0:.0%}".format(*max(held)) if held else "none"


def _farthest(data: Quality) -> str:
    """Return the category (5 % or more in the paper) whose share differs most from the paper."""
    rows = [s for s in data.demographics if (s.paper or 0) >= 0.05 and s.attribute in _HELD]
    off = {s.category: 100 * (s.share - (s.paper or 0)) for s in rows}
    return "{:.17} {:+.1f}".format(*max(off.items(), key=lambda row: abs(row[1]))) if off else "none"


_ROWS: Final[Sequence[_Row]] = (
    ("users", lambda d: f"{d.users}", "120 or more"),
    ("tasks (single, multi)", lambda d: f"{d.single_tasks}, {d.multi_tasks}", ""),
    ("scenarios", lambda d: f"{d.scenarios}", ""),
    ("facts a task (mean)", lambda d: "-" if d.facts_mean is None else f"{d.facts_mean:.1f}", "3 or more"),
    (
        "deeds that rest on a closed fact",
        lambda d: "-" if d.deeds_on_facts is None else f"{d.deeds_on_facts:.0%}",
        "90% or more",
    ),
    (
        "closed facts that a part names",
        lambda d: "-" if d.facts_named is None else f"{d.facts_named:.0%}",
        "",
    ),
    ("mean evenness, categorical", lambda d: f"{d.evenness_mean:.2f}", "0.85 or more"),
    ("commonest categorical value", _top, "60% at most"),
    ("farthest from Tables 6 and 7", _farthest, "3 points at most"),
    (
        "words a summary (mean, range)",
        lambda d: "{:.0f} ({}-{})".format(d.words_mean, *d.words_range),
        "80-160",
    ),
    ("values named word for word", lambda d: f"{d.verbatim:.0%}", "90% at most"),
    ("words compared", lambda d: f"{d.sample_words}", "the same number"),
    ("Dist-1", lambda d: f"{d.dist_1:.3f}", "higher is better"),
    ("Dist-2", lambda d: f"{d.dist_2:.3f}", "higher is better"),
    ("Ent-4", lambda d: f"{d.ent_4:.2f}", "higher is better"),
    ("Self-BLEU", lambda d: f"{d.self_bleu:.3f}", "lower is better"),
    ("findings", lambda d: f"{len(d.findings)}", "0"),
)
