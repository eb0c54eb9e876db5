"""Several runs in the order of their commits: what each measured, and where they stop being comparable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.verdict import Dimension
from pytest_personalens.results.baseline import ComparisonTerms, terms_of
from pytest_personalens.results.means import Estimate, estimate, item_scores
from pytest_personalens.results.provenance import Provenance
from pytest_personalens.results.wording import count, part_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.results.values import Gate, Results

#: The dimensions that a history follows.
FOLLOWED: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)


class Run(NamedTuple):
    """One run of a history.

    `breaks` says what keeps it from being compared with the run before it, `changes` what else is other than
    there: the sample, the gates, the plugin. A run is not `whole` if it was stopped, or too little of it
    could be scored.
    """

    name: str
    provenance: Provenance
    estimates: tuple[Estimate, ...]
    scored: int
    expected: int
    whole: bool
    gates: tuple[Gate, ...]
    plugin: str
    breaks: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the gates that failed."""
        return tuple(gate.name for gate in self.gates if not gate.passed)

    @property
    def label(self) -> str:
        """The commit, or the name of the file where it is not known."""
        return self.provenance.short or self.name

    def floor(self, dimension: Dimension) -> float | None:
        """The least mean that a gate of this run asks for."""
        name = "tcr" if dimension is Dimension.TASK_COMPLETION else dimension.short
        return next((gate.floor for gate in self.gates if gate.kind == "floor" and gate.name == name), None)


class History(NamedTuple):
    """The runs, and whether the dates of their commits gave the order; else it is that of the files."""

    runs: tuple[Run, ...]
    by_date: bool


def history_of(read: Iterable[tuple[str, Results]], *, branch: str = "") -> History:
    """The history of the runs with these names, of one `branch` if it is given.

    Runs of one commit keep the order in which they are given; all do where some run does not know its date.
    """
    named = [(name, run) for name, run in read if not branch or _provenance(run).branch == branch]
    by_date = all(_provenance(results).committed for _, results in named)
    if by_date:
        named.sort(key=lambda one: _provenance(one[1]).instant)
    return History(tuple(_runs(named)), by_date)


def _runs(named: Sequence[tuple[str, Results]]) -> Iterable[Run]:
    before: Results | None = None
    for name, results in named:
        scores = item_scores(results.own)
        yield Run(
            name,
            _provenance(results),
            tuple(estimate(scores, dimension) for dimension in FOLLOWED),
            results.overall.scored,
            results.expected,
            not part_note(results),
            results.gates,
            results.plugin,
            tuple(_differences(_terms(before), _terms(results))) if before else (),
            tuple(_differences(_facts(before), _facts(results))) if before else (),
        )
        if results.overall.scored:  # what measured nothing has no terms
            before = results


def _provenance(results: Results) -> Provenance:
    return results.provenance or Provenance()


def _terms(results: Results) -> dict[str, str]:
    if not results.overall.scored:
        return {}
    terms: ComparisonTerms = terms_of(results)
    return {"the dataset": terms.dataset, **terms.setup}


def _facts(results: Results) -> dict[str, str]:
    settings: dict[str, Any] = results.settings
    return {
        "the sample": count(results.drawn),
        "the seed": repr(settings.get("seed")),
        "the gates": ", ".join(f"{gate.name} {gate.floor:g}" for gate in results.gates) or "none",
        "the plugin": results.plugin,
    }


def _differences(then: dict[str, str], now: dict[str, str]) -> Iterable[str]:
    if then and now:
        for what in {**then, **now}:
            was, is_now = then.get(what, "default"), now.get(what, "default")
            if was != is_now:
                yield f"{what}: {was} -> {is_now}"
