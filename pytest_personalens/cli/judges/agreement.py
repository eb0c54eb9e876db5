"""The command ``agreement``: compares a judge with labelled dialogues, to show how far to trust it."""

from __future__ import annotations

import importlib
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command, report_files
from pytest_personalens.core.errors import BudgetSpent, SpecError, error_text
from pytest_personalens.core.files.destinations import file_kind

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.judging.usage import Price, Usage
    from pytest_personalens.core.judging.verdict import Dimension, Judge
    from pytest_personalens.engine.records.on_tape import JudgeByCase
    from pytest_personalens.judge_quality import Agreement, Labelled
    from pytest_personalens.models.call_log import CallLog
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.models.tape import Tape

#: The exit status after Ctrl-C, the same as in shells.
_INTERRUPTED: Final = 130
#: The message when a paid judge is stopped.
_KEPT: Final = "what was judged is kept, and the same command goes on from there"


@command("agreement")
def main(options: argparse.Namespace) -> int:
    """Return 0, 4 if the input cannot be read or judged at all, or 130 after Ctrl-C."""
    from pytest_personalens.core.files.links import write_atomically
    from pytest_personalens.judge_quality.agreement import render

    # The paths are checked before any paid call: the user learns early of a path that cannot be written,
    # and no file of somebody else is replaced.
    paths = report_files(options.report, {"this command": options.labels}) if not options.estimate else []

    def conclude(agreement: Agreement) -> None:
        print(*render.lines(agreement, most=agreement.dialogues if options.all else 5), sep="\n")
        for path in paths:
            text = f"{agreement.model_dump_json(indent=2)}\n" if file_kind(path) == "json" else None
            write_atomically(path, text or render.markdown(agreement))

    return judge_labels(options, conclude)


def judge_labels(options: argparse.Namespace, conclude: Callable[[Agreement], None]) -> int:
    """Have a judge read labelled dialogues as the options say, and `conclude` from their agreement."""
    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.judging.dimensions import dimensions
    from pytest_personalens.core.judging.usage import read_prices
    from pytest_personalens.judge_quality import labelled_readings, measure, read_labels
    from pytest_personalens.judge_quality.agreement.kappa import (
        Moved,
        idle_lines,
        idle_readings,
        moved_by_idle,
    )
    from pytest_personalens.models.meter import Budget, Meter

    labelled, chosen = read_labels(options.labels), dimensions(options.dimensions.split(","))
    prices, caps = read_prices(options.price), dict(options.budget)
    if not any(item.majority(d) is not None for item in labelled for d in chosen):
        raise SpecError(
            f"{options.labels}: holds no label of {', '.join(d.short for d in chosen)}; put them in"
            " (docs/how-to/models/check-your-judge.md)",
            code="PL207",
        )
    with tempfile.TemporaryDirectory(prefix="personalens-") as folder:
        budget = Budget(
            Path(folder) / "run", max_calls=caps.get("calls"), max_usd=caps.get("usd"), option="--budget"
        )
        meter = Meter(budget=budget, prices=prices)
        prompts = PromptSettings(options.protocol, options.prompts)
        opened = open_judge(options.judge_model, meter, prompts, at_once=options.concurrency)
        paid_judge = PaidJudge(opened, options, prompts, prices)
        judge = paid_judge.judge
        given = getattr(judge, "dimensions", None) if options.dimensions == "all" else None
        chosen = tuple(d for d in chosen if given is None or d in given)
        readings = list(labelled_readings(labelled, chosen))
        if options.idle:
            readings = [*readings, *idle_readings(readings)]
        unread = [(item, d) for item, d in readings if not paid_judge.has_recorded(item, d)]
        if options.estimate or (unread and judge.paid and options.live):
            paid_judge.print_estimate(unread)
        if options.estimate:
            return 0
        if judge.paid and unread and not options.live:
            raise SpecError(f"{options.judge_model} costs money: add --live to call it", code="PL304")
        if judge.paid and unread and "usd" in caps and paid_judge.price is None:
            raise SpecError(
                f"--budget: no price is known for {options.judge_model}; give it with --price", code="PL304"
            )
        try:
            agreement = measure(
                labelled,
                paid_judge.judge,
                dimensions=chosen,
                progress=lambda done: _print_progress(done, len(labelled)),
                at_once=options.concurrency,
            )
            moved: list[Moved] = []
            if options.idle:
                plain = list(labelled_readings(labelled, chosen))
                moved = moved_by_idle(plain, paid_judge.judge, at_once=options.concurrency)
        except KeyboardInterrupt:
            print(f"stopped; {_KEPT}" if judge.paid else "stopped", file=sys.stderr)
            return _INTERRUPTED
        except BudgetSpent as spent:
            raise BudgetSpent(f"{spent}; {_KEPT}") from None
    conclude(agreement)
    if options.idle:
        print(*idle_lines(moved), sep="\n")
    if replayed := len(readings) - len(unread):
        print(f"{replayed} readings from records")
    paid_judge.print_usage(meter.usage)
    return 0


def open_judge(
    spec: str, meter: Meter, prompts: PromptSettings, *, at_once: int = 1
) -> Callable[[Tape], Judge]:
    """Return what makes the judge of a tape: ``embedded``, a model of ours, or ``module:attribute``.

    The attribute is a judge, or a class that makes one. A model gives up to `at_once` readings at a time.
    Raise `SpecError` for a bad spec, and for prompts that no model gets.
    """
    from pytest_personalens.agents import EmbeddedJudge
    from pytest_personalens.agents.by_model.model_agents import ModelAgents
    from pytest_personalens.agents.checked import offered
    from pytest_personalens.engine.records.on_tape import JudgeOnTape
    from pytest_personalens.models import open_model
    from pytest_personalens.models.retry import Limiter, Reliable

    model = None if spec == "embedded" else open_model(spec, connections=max(64, at_once))
    if model is not None:
        reliable, agents = Reliable(model, limiter=Limiter(start=at_once)), ModelAgents(prompts)
        return lambda tape: agents.judge(reliable, meter.on(tape))
    if prompts.named:
        option = "--prompts" if prompts.official else "--protocol"
        raise SpecError(
            f"{option}: it shapes what a model is told, and {spec!r} is none of our models", code="PL108"
        )
    if spec == "embedded":
        return lambda tape: EmbeddedJudge()
    module, colon, attribute = spec.partition(":")
    if "," in spec or "=" in module:
        raise SpecError(
            f"--judge-model: expected one judge, not one for each reading: {spec!r}", code="PL101"
        )
    if not colon:
        raise SpecError(
            f"--judge-model: expected embedded, bedrock:MODEL, openai:MODEL or module:attribute, not {spec!r}"
        )
    sys.path.insert(0, str(Path.cwd()))
    try:
        candidate = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # the module may raise anything at its import
        raise SpecError(
            f"--judge-model: cannot take {attribute!r} from {module!r}: {error_text(error)}",
            code="PL307",
        ) from None
    judge: Judge | None = offered(
        "judge", lambda: candidate() if isinstance(candidate, type) else candidate, "--judge-model"
    )
    if judge is None:
        raise SpecError(f"--judge-model: {spec!r} is None, and no judge", code="PL307")
    return lambda tape: JudgeOnTape(judge, tape)


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
        self._strict = options.records is not None
        if self.judge.paid:
            log = _open_log(options)
            if not options.anew:
                self._known = JudgeByCase(open_judge, log, may_spend=False)
            self.judge = JudgeByCase(open_judge, log, may_spend=options.live, anew=options.anew)

    def has_recorded(self, item: Labelled, dimension: Dimension) -> bool:
        """True if the reading is in the log."""
        return self._known is not None and self._known.knows(
            item.scenario, item.dialogue, dimension, strict=self._strict
        )

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
        from pytest_personalens.reports.terminal.summary_lines import usage_table

        costs = {purpose: self.price.of(used) for purpose, used in usage.items()} if self.price else {}
        print(*usage_table(usage, costs), sep="\n", end="\n" if usage else "")


def _open_log(options: argparse.Namespace) -> CallLog:
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


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} dialogues", end=end, file=sys.stderr, flush=True)
