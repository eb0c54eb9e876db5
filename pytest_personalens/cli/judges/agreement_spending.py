"""What a paid judge costs on labelled dialogues: recorded readings, an estimate, and the usage."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.judging.usage import Price, Usage
    from pytest_personalens.core.judging.verdict import Dimension, Judge
    from pytest_personalens.engine.records.readings import RecordedJudge
    from pytest_personalens.judge_quality import Labelled
    from pytest_personalens.models import Model


class Spending:
    """The recorded readings of a paid judge, the estimate for the rest, and the cost."""

    def __init__(self, judge: Judge, options: argparse.Namespace, told: PromptSettings) -> None:
        from pytest_personalens.datasets.toml_cache import cache_folder
        from pytest_personalens.engine.records.readings import RecordedJudge

        self._options, self._told = options, told
        self._recorded: RecordedJudge | None = None
        self.judge = judge
        if judge.paid:
            try:
                folder = options.records or cache_folder() / "agreement"
            except RuntimeError:  # without a home folder, nothing is kept
                return
            strict = options.records is not None
            self.judge = self._recorded = RecordedJudge(
                judge, folder, may_spend=options.live, strict=strict, anew=options.anew
            )

    @cached_property
    def _model(self) -> Model | None:
        from pytest_personalens.models.open import open_model

        return open_model(self._options.judge_model)

    def price(self, prices: Mapping[str, Price]) -> Price | None:
        """Return the price of the judge's model, or None if it is unknown."""
        from pytest_personalens.core.judging.usage import price_of

        return price_of(self._options.judge_model if self._model is None else self._model.name, prices)

    def knows(self, item: Labelled, dimension: Dimension) -> bool:
        """True if the reading is recorded."""
        return self._recorded is not None and self._recorded.knows(item.scenario, item.dialogue, dimension)

    def estimate(self, readings: Sequence[tuple[Labelled, Dimension]], prices: Mapping[str, Price]) -> None:
        """Print the calls, tokens and dollars that the readings would take.

        The estimate uses the real prompts.
        """
        from pytest_personalens.agents.by_model.model_agents import ModelAgents
        from pytest_personalens.agents.by_model.placeholder import Placeholder, output_tokens
        from pytest_personalens.models.meter import Meter

        if (model := self._model) is None:
            print(
                f"{self._options.judge_model} is no model of ours: it makes {len(readings)} readings, at a"
                " cost that nobody here knows"
            )
            return
        meter = Meter()
        whole = bool(self._told.named)
        judge = ModelAgents(self._told).judge(Placeholder(model.name, "judge", whole=whole), meter)
        for item, dimension in readings:
            judge.verdict(item.scenario, item.dialogue, dimension)
        used = {
            p: u.model_copy(update={"output_tokens": output_tokens(p) * u.calls})
            for p, u in meter.usage.items()
        }
        print(
            "an estimate, nothing read from a provider's cache:"
            if used
            else "every reading is recorded: it costs nothing"
        )
        self._table(used, prices)

    def tell_usage(self, usage: Mapping[str, Usage], prices: Mapping[str, Price], *, replayed: int) -> None:
        """Print the usage, and how many readings came from records."""
        if replayed:
            print(f"{replayed} readings from records")
        self._table(usage, prices)

    def _table(self, usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> None:
        from pytest_personalens.reports.terminal.summary import usage_table

        price = self.price(prices)
        print(
            *usage_table(usage, {p: price.of(u) for p, u in usage.items()} if price else {}),
            sep="\n",
            end="\n" if usage else "",
        )
