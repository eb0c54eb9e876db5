"""The history of several runs by their commits: what each measured, and where they cannot be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.results.comparison.baseline import terms_of
from pytest_personalens.results.means import Estimate, estimate, item_scores
from pytest_personalens.results.values.provenance import Provenance
from pytest_personalens.results.wording import count, part_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.results.values.figures import Gate
    from pytest_personalens.results.values.results import Results


class Run(NamedTuple):
    """One run of a history.

    `estimates` and `limits` (of gates) are in the order of the history's measures. `breaks` says why the run
    cannot be compared with the one before it. `changes` lists other differences from that run: the sample,
    the gates, the plugin. A run is not `whole` if it was stopped, or if too few of its items could be scored.
    """

    name: str
    provenance: Provenance
    estimates: tuple[Estimate, ...]
    scored: int
    expected: int
    whole: bool
    limits: tuple[float | None, ...]
    gates: tuple[Gate, ...]
    breaks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the gates that failed."""
        return tuple(gate.name for gate in self.gates if not gate.passed)

    @property
    def label(self) -> str:
        """The commit, or the name of the file if the commit is unknown."""
        return self.provenance.short or self.name


class History(NamedTuple):
    """The runs of a suite, and its main measures.

    If `by_date` is true, the runs are in the order of their commits' dates, else in the order of the files.
    """

    runs: tuple[Run, ...]
    measures: tuple[Measure, ...]
    by_date: bool


def history_of(read: Iterable[tuple[str, Results]], *, branch: str = "") -> History:
    """Return the history of the runs with these names.

    If `branch` is given, only runs of that branch count. Runs of one commit keep their given order. If any
    run has no date, all runs keep it. Raise `SpecError` for runs of several suites, and if no run is left.
    """
    named = [(name, run) for name, run in read if not branch or _provenance(run).branch == branch]
    if not named:
        raise SpecError(f"--branch: no run of {branch!r} is in these files")
    for name, run in named:
        if run.suite != named[0][1].suite:
            other = f"{named[0][0]} is of {named[0][1].suite}"
            raise SpecError(f"{name}: a run of the suite {run.suite}, and {other}; give runs of one suite")
    by_date = all(_provenance(results).committed for _, results in named)
    if by_date:
        named.sort(key=lambda one: _provenance(one[1]).instant)
    measures = named[0][1].of_suite.main
    return History(tuple(_runs(named, measures)), measures, by_date)


def _runs(named: Sequence[tuple[str, Results]], measures: Sequence[Measure]) -> Iterable[Run]:
    before: Results | None = None
    for name, results in named:
        scores = item_scores(results.own)
        yield Run(
            name,
            _provenance(results),
            tuple(estimate(scores, measure) for measure in measures),
            results.overall.scored,
            results.expected,
            not part_note(results),
            tuple(_limit(results, measure) for measure in measures),
            results.gates,
            tuple(_differences(_terms(before), _terms(results))) if before else (),
            tuple(_differences(_facts(before), _facts(results))) if before else (),
        )
        if results.overall.scored:  # a run without a score has no terms
            before = results


def _limit(results: Results, measure: Measure) -> float | None:
    name = results.of_suite.metric_of(measure)
    return next((gate.limit for gate in results.gates if gate.kind == "floor" and gate.name == name), None)


def _provenance(results: Results) -> Provenance:
    return results.provenance or Provenance()


def _terms(results: Results) -> dict[str, str]:
    if not results.overall.scored:
        return {}
    terms = terms_of(results)
    return {"the dataset": terms.dataset, **terms.setup}


def _facts(results: Results) -> dict[str, str]:
    return {
        "the sample": count(results.drawn, results.of_suite.item),
        "the seed": repr(results.settings.get("seed")),
        "the gates": ", ".join(f"{gate.name} {gate.limit:g}" for gate in results.gates) or "none",
        "the plugin": results.plugin,
    }


def _differences(then: dict[str, str], now: dict[str, str]) -> Iterable[str]:
    if then and now:
        for what in {**then, **now}:
            was, is_now = then.get(what, "none"), now.get(what, "none")
            if was != is_now:
                yield f"{what}: {was} -> {is_now}"
