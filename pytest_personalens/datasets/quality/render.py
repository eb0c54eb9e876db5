"""Renders the quality of one or several datasets as tables for a terminal."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.data_check import DataCheck
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.datasets.quality.assess import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.datasets.quality.assess import Quality, Spread

#: With fewer people, a share of them is chance.
_COMPARABLE: Final = 30
#: The rows that do not compare people with each other.
_OF_ANY_SIZE: Final = frozenset(
    {
        "facts a task (mean)",
        "deeds that rest on a fact",
        "words a summary (mean, range)",
        "values named word for word",
        "findings",
    }
)
#: The number of examples of each rule without --all.
_EXAMPLES: Final = 3
_Row = tuple[str, "Callable[[Quality], str]", str]


def data_check(data: Quality) -> DataCheck:
    """Return the quality of a dataset in the form that the command prints."""
    return DataCheck(
        dataset=data.dataset,
        rows=[(label, show(data), _goal(data, label, goal)) for label, show, goal in _ROWS],
        summary=_too_few(data),
        details=tuple(detail_lines(data)),
        findings=data.findings,
        rules=len(RULES),
        report=data.model_dump(mode="json"),
    )


def _goal(data: Quality, label: str, goal: str) -> str:
    """Return the goal of a row; with few people, those that compare people say nothing."""
    return "" if data.users < _COMPARABLE and label not in _OF_ANY_SIZE else goal


def _too_few(data: Quality) -> tuple[str, ...]:
    if data.users >= _COMPARABLE:
        return ()
    people = "1 person" if data.users == 1 else f"{data.users} people"
    line = (
        f"{people}: shares, evenness, diversity and the distance from the paper's Tables 6 and 7 say nothing"
        f" with fewer than {_COMPARABLE}, so they have no goal here; what a goal stands beside, and the"
        " rules below, hold for any number"
    )
    return (line,)


def overview(checks: Sequence[DataCheck]) -> Iterator[str]:
    """Yield a line for each measure: a column for each dataset, and the goal for the embedded data."""
    columns = [[check.dataset, *(value for _, value, _ in check.rows)] for check in checks]
    widths = [max(16, *map(len, column)) + 2 for column in columns]
    labels = [("", "goal"), *((label, goal) for label, _, goal in checks[0].rows)]
    for number, (label, goal) in enumerate(labels):
        cells = "".join(column[number].ljust(width) for column, width in zip(columns, widths, strict=True))
        yield one_line(f"{label:<34}{cells}{goal}".rstrip())


def detail_lines(data: Quality) -> Iterator[str]:
    """Yield every domain, preference type and demographic category of one dataset."""
    yield f"{'domain':<16}{'users':>7}{'single':>8}{'multi':>7}{'scenarios':>11}"
    for d in data.domains:
        yield f"{d.domain:<16}{d.users:>7}{d.single_tasks:>8}{d.multi_tasks:>7}{d.scenarios:>11}"
    yield ""
    yield f"{'preference type':<46}{'users':>6}{'values':>8}{'evenness':>10}{'named':>7}  commonest value"
    for t in data.types:
        name = f"{t.domain}: {t.name}{'' if t.categorical else ' (open)'}"
        yield (
            f"{name:<46}{t.users:>6}{t.distinct:>8}{t.evenness:>10.2f}{t.verbatim:>7.0%}  {t.top_value}"
            f" ({t.top_share:.0%})"
        )
    yield ""
    yield f"{'demographics':<50}{'here':>8}{'paper':>8}{'off by':>8}"
    for s in data.demographics:
        if s.paper is None:
            yield f"{s.attribute + ': ' + s.category:<50}{s.share:>8.1%}{'-':>8}{'-':>8}"
        elif s.share or s.paper >= 0.005:
            points = 100 * (s.share - s.paper)
            yield f"{s.attribute + ': ' + s.category:<50}{s.share:>8.1%}{s.paper:>8.1%}{points:>+8.1f}"


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


def _situation(part: str) -> Callable[[Quality], str]:
    def show(data: Quality) -> str:
        spread: Spread = next(s for s in data.situations if s.part == part)
        return f"{spread.top_value[:14]} {spread.top_share:.0%}"

    return show


def _top(data: Quality) -> str:
    return f"{data.top.top_value[:18]} {data.top.top_share:.0%}" if data.top else "none"


def _farthest(data: Quality) -> str:
    row = data.farthest
    return f"{row.category[:17]} {100 * (row.share - (row.paper or 0)):+.1f}" if row else "none"


_ROWS: Final[Sequence[_Row]] = (
    ("users", lambda d: f"{d.users}", "120 or more"),
    ("distinct interest masks", lambda d: f"{d.masks}", "60 or more"),
    (
        "domains a user (mean, range)",
        lambda d: f"{d.domains_mean:.1f} ({d.domains_min}-{d.domains_max})",
        "12-20",
    ),
    ("interests told by age and gender", lambda d: f"{100 * d.interest_gain:+.1f} points", "about 0"),
    ("tasks (single, multi)", lambda d: f"{d.single_tasks}, {d.multi_tasks}", "86, 25"),
    ("scenarios", lambda d: f"{d.scenarios}", ""),
    ("facts a task (mean)", lambda d: "-" if d.facts_mean is None else f"{d.facts_mean:.1f}", "3 or more"),
    (
        "deeds that rest on a fact",
        lambda d: "-" if d.deeds_on_facts is None else f"{d.deeds_on_facts:.0%}",
        "90% or more",
    ),
    ("past dealings, hard limits", lambda d: f"{d.dealings}, {d.limits}", ""),
    ("mean evenness, categorical", lambda d: f"{d.evenness_mean:.2f}", "0.85 or more"),
    ("commonest categorical value", _top, "60% at most"),
    ("summaries", lambda d: f"{d.texts.summaries}", ""),
    (
        "words a summary (mean, range)",
        lambda d: f"{d.texts.words_mean:.0f} ({d.texts.words_min}-{d.texts.words_max})",
        "80-160",
    ),
    ("values named word for word", lambda d: f"{d.texts.verbatim:.0%}", "90% at most"),
    ("words compared", lambda d: f"{d.texts.sample_words}", "the same number"),
    ("Dist-1", lambda d: f"{d.texts.dist_1:.3f}", "higher is better"),
    ("Dist-2", lambda d: f"{d.texts.dist_2:.3f}", "higher is better"),
    ("Ent-4", lambda d: f"{d.texts.ent_4:.2f}", "higher is better"),
    ("Self-BLEU", lambda d: f"{d.texts.self_bleu:.3f}", "lower is better"),
    ("commonest device", _situation("device"), "40% at most"),
    ("commonest time of day", _situation("time_of_day"), "40% at most"),
    ("commonest day of the week", _situation("day_of_week"), "40% at most"),
    ("commonest location", _situation("location"), "40% at most"),
    ("commonest environment", _situation("environment"), "70% at most"),
    ("farthest from Tables 6 and 7", _farthest, "3 points at most"),
    ("findings", lambda d: f"{len(d.findings)}", "0"),
)
