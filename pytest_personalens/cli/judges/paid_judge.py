"""What a judge costs on labelled dialogues: readings that are in a log, an estimate, and the usage."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.judging.usage import Price, Usage
    from pytest_personalens.core.judging.verdict import Dimension, Judge
    from pytest_personalens.engine.records.on_tape import JudgeByCase
    from pytest_personalens.judge_quality import Labelled
    from pytest_personalens.models.call_log import CallLog
    from pytest_personalens.models.tape import Tape


class PaidJudge:
    """A judge of labelled dialogues, with a log of what was paid for; `price` is None if it is unknown.

    `open_judge` returns the judge of a tape. Raise `SpecError` if what is bought could not be kept.
    """

    def __init__(
        self,
        open_judge: Callable[[Tape], Judge],
        options: argparse.Namespace,
        prompts: PromptSettings,
        prices: Mapping[str, Price],
    ) -> None:
        from pytest_personalens.core.judging.usage import price_of
        from pytest_personalens.engine.records.on_tape import JudgeByCase
        from pytest_personalens.models import open_model
        from pytest_personalens.models.tape import Tape

        self._prompts, self._spec = prompts, options.judge_model
        self._model = open_model(self._spec)
        self.price = price_of(self._spec if self._model is None else self._model.name, prices)
        self.judge: Judge = open_judge(Tape())
        self._known: JudgeByCase | None = None
        if self.judge.paid:
            log, strict = _open_log(options), options.records is not None
            if not options.anew:
                self._known = JudgeByCase(open_judge, log, may_spend=False, strict=strict)
            self.judge = JudgeByCase(open_judge, log, may_spend=options.live, anew=options.anew)

    def has_recorded(self, item: Labelled, dimension: Dimension) -> bool:
        """True if the reading is in the log."""
        return self._known is not None and self._known.knows(item.scenario, item.dialogue, dimension)

    def print_estimate(self, readings: Sequence[tuple[Labelled, Dimension]]) -> None:
        """Print the calls, tokens and dollars that the readings would take, with the real prompts."""
        from pytest_personalens.agents.by_model.expected_usage import expected_call, tokens_in
        from pytest_personalens.core.judging.usage import Usage

        if self._model is None:
            print(
                f"{self._spec} is no model of ours: it makes {len(readings)} readings, at a cost that nobody"
                " here knows"
            )
            return
        if not readings:
            print("every reading is recorded: it costs nothing")
            return
        usage: dict[str, Usage] = {}
        for item, dimension in readings:
            reads = tokens_in(message.content for message in item.dialogue.messages)
            call = expected_call(
                dimension.purpose, reads, protocol=self._prompts.named or "default", kind=item.scenario.kind
            )
            usage[dimension.purpose] = usage.get(dimension.purpose, Usage()) + call
        print("an estimate, nothing read from a provider's cache:")
        self.print_usage(dict(sorted(usage.items())))

    def print_usage(self, usage: Mapping[str, Usage]) -> None:
        """Print the usage as a table, with its cost if the price is known."""
        from pytest_personalens.reports.terminal.summary import usage_table

        costs = {purpose: self.price.of(used) for purpose, used in usage.items()} if self.price else {}
        print(*usage_table(usage, costs), sep="\n", end="\n" if usage else "")


def _open_log(options: argparse.Namespace) -> CallLog:
    from pytest_personalens.core.errors import SpecError
    from pytest_personalens.core.files.cache import cache_folder
    from pytest_personalens.models.call_log import CallLog

    try:
        return CallLog(options.records or cache_folder() / "agreement", uuid.uuid4().hex)
    except (OSError, RuntimeError) as error:
        where, why = getattr(error, "filename", None) or "the cache", getattr(error, "strerror", None)
        raise SpecError(
            f"what is bought could not be kept: {where}: {why or error}; name another folder with --records",
            code="PL105",
        ) from None
