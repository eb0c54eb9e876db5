"""What a run comes to: its trials, its controls, the comparison with its baseline, its gates. The same for merged shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.verdict import Dimension
from pytest_personalens.results.gate_expressions import floors_of

if TYPE_CHECKING:
    from pytest_personalens.core.settings import Settings
    from pytest_personalens.results.baseline import Baseline
    from pytest_personalens.results.gate_expressions import Floor
    from pytest_personalens.results.values import Results


class Demands(NamedTuple):
    """What a run is held against: its floors, and a baseline with the level and the margins of the comparison."""

    floors: tuple[Floor, ...]
    baseline: Baseline | None
    settings: Settings

    @classmethod
    def of(cls, settings: Settings, baseline: Baseline | None) -> Demands:
        """What `settings` ask for. Raises `SpecError` for floors that cannot be."""
        return cls(floors_of(settings), baseline, settings)


def conclude(results: Results, demands: Demands) -> Results:
    """The results with all that follows from them; a run that is not whole has neither comparison nor gates."""
    # What a run does not ask for is not loaded: it would be felt in a replay.
    s, update = demands.settings, dict[str, object]()
    if s.trials > 1:
        from pytest_personalens.results.trials import trials_of

        update["trials"] = trials_of(results.own, s.trials)
    if s.arms:
        from pytest_personalens.results.controls import arms_of

        update["arms"] = arms_of(results.items)
    results = results.model_copy(update=update)
    # A cap ends a run in order, and its items are skipped; so are those that could not be scored where nothing is to fail the run.
    # If nothing is left to look at, that is no success.
    nothing = not results.overall.scored and ("budget" in results.uncounted or (s.fail_on == "nothing" and results.expected > 0))
    if not results.complete or not (s.gated or nothing):
        return results
    from pytest_personalens.results.gates import check_gates

    if demands.baseline is not None:
        from pytest_personalens.results.comparison import compare

        margins = {Dimension(name): margin for name, margin in s.margin}
        comparison = compare(demands.baseline, results, name=str(s.baseline), level=s.level, margins=margins)
        results = results.model_copy(update={"comparison": comparison})
    measured = nothing or s.save_baseline is not None or (s.fail_on == "gate" and results.expected > 0)
    return results.model_copy(update={"gates": check_gates(results, demands.floors, min_valid=s.min_valid, measured=measured)})
