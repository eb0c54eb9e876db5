"""The command ``python -m pytest_personalens agreement LABELS.jsonl``.

It shows how far to trust a judge: it compares the judge with labelled dialogues.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, at_least, errors_told, report_of
from pytest_personalens.cli.judges.agreement_spending import Spending
from pytest_personalens.core.errors import BudgetSpent, SpecError, error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.models.meter import Meter


#: The exit status after Ctrl-C, the same as in shells.
_INTERRUPTED: Final = 130


#: The message when a paid judge is stopped.
_KEPT: Final = "what was judged is kept, and the same command goes on from there"


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, or 4 if the input cannot be read or judged at all. Return 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    from pytest_personalens.agents.by_model.model_agents import PromptSettings
    from pytest_personalens.core.files.atomic_write import write_atomically
    from pytest_personalens.core.files.destinations import file_kind, refuse_shared_files, writable
    from pytest_personalens.core.judging.dimensions import dimensions
    from pytest_personalens.core.judging.usage import read_prices
    from pytest_personalens.judge_quality import labelled_readings, measure, read_labels
    from pytest_personalens.judge_quality.agreement import render
    from pytest_personalens.models.meter import Budget, Meter

    labelled, chosen, prices = (
        read_labels(options.labels),
        dimensions(options.dimensions.split(",")),
        read_prices(options.price),
    )
    if not any(item.majority(d) is not None for item in labelled for d in chosen):
        raise SpecError(
            f"{options.labels}: holds no label of {', '.join(d.short for d in chosen)}; put them in"
            " (docs/how-to/check-your-judge.md)"
        )
    caps = dict(options.budget)
    with tempfile.TemporaryDirectory(prefix="personalens-") as folder:
        budget = Budget(
            Path(folder) / "run", max_calls=caps.get("calls"), max_usd=caps.get("usd"), option="--budget"
        )
        meter = Meter(budget=budget, prices=prices)
        told = PromptSettings(options.protocol, options.prompts)
        judge = open_judge(options.judge_model, meter, told, at_once=options.concurrency)
        spending = Spending(judge, options, told)
        readings = list(labelled_readings(labelled, chosen))
        unread = [(item, d) for item, d in readings if not spending.knows(item, d)]
        if options.estimate or (unread and judge.paid and options.live):
            spending.estimate(unread, prices)
        if options.estimate:
            return 0
        if judge.paid and unread and not options.live:
            raise SpecError(f"{options.judge_model} costs money: add --live to call it")
        if judge.paid and unread and "usd" in caps and spending.price(prices) is None:
            raise SpecError(f"--budget: no price is known for {options.judge_model}; give it with --price")
        # The paths are checked before any paid call: the user learns early of a path that cannot be written,
        # and no file of somebody else is replaced.
        files = [("--report", Path(text)) for text in options.report]
        refuse_shared_files(files, {"this command": options.labels})
        for flag, path in files:
            writable(path, flag, kind=str(file_kind(path)))
        try:
            progress = _progress(len(labelled))
            agreement = measure(
                labelled, spending.judge, dimensions=chosen, progress=progress, at_once=options.concurrency
            )
        except KeyboardInterrupt:
            print(f"stopped; {_KEPT}" if judge.paid else "stopped", file=sys.stderr)
            return _INTERRUPTED
        except BudgetSpent as spent:
            raise BudgetSpent(f"{spent}; {_KEPT}") from None
    print(*render.lines(agreement, most=len(labelled) if options.all else 5), sep="\n")
    spending.tell_usage(meter.usage, prices, replayed=len(readings) - len(unread))
    for _, path in files:
        write_atomically(
            path,
            (
                agreement.model_dump_json(indent=2) + "\n"
                if file_kind(path) == "json"
                else render.markdown(agreement)
            ),
        )
    return 0


def open_judge(spec: str, meter: Meter, told: PromptSettings, *, at_once: int = 1) -> Judge:
    """Return the judge of a spec.

    A spec is ``embedded``, a model that this package knows, or ``module:attribute``. The attribute is a
    judge, or a class that makes one. `told` says which prompts a model gets. A model gives up to `at_once`
    readings at a time. Raise `SpecError` for a bad spec, and for prompts that no model gets.
    """
    from pytest_personalens.agents import EmbeddedJudge
    from pytest_personalens.agents.by_model.model_agents import ModelAgents
    from pytest_personalens.agents.checked import offered
    from pytest_personalens.models.open import open_model
    from pytest_personalens.models.rate_limit import Limiter
    from pytest_personalens.models.retry import Reliable

    model = None if spec == "embedded" else open_model(spec, connections=max(64, at_once))
    if model is not None:
        return ModelAgents(told).judge(Reliable(model, limiter=Limiter(start=at_once)), meter)
    if told.named:
        option = "--prompts" if told.official else "--protocol"
        raise SpecError(f"{option}: it shapes what a model is told, and {spec!r} is none of our models")
    if spec == "embedded":
        return EmbeddedJudge()
    module, colon, attribute = spec.partition(":")
    if not colon:
        raise SpecError(
            f"--judge-model: expected embedded, bedrock:MODEL, openai:MODEL or module:attribute, not {spec!r}"
        )
    import importlib

    sys.path.insert(0, str(Path.cwd()))
    try:
        candidate = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # the module may raise anything at its import
        raise SpecError(
            f"--judge-model: cannot take {attribute!r} from {module!r}: {error_text(error)}"
        ) from None
    judge: Judge | None = offered(
        "judge", lambda: candidate() if isinstance(candidate, type) else candidate, "--judge-model"
    )
    if judge is None:
        raise SpecError(f"--judge-model: {spec!r} is None, and no judge")
    return judge


def _cap(text: str) -> tuple[str, float]:
    from pytest_personalens.core.options.option_types import budget

    try:
        return budget(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}, found {text!r}") from None


def _progress(total: int) -> Callable[[int], None]:
    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(
                f"\r{done} of {total} dialogues",
                end="\n" if done == total else "",
                file=sys.stderr,
                flush=True,
            )

    return show


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens agreement",
        description="Compare a judge with labelled dialogues, and the labels with each other.",
        usage="%(prog)s [options] labels",
        example="personalens agreement labels.jsonl --report agreement.md",
    )
    parser.add_argument(
        "labels", type=Path, help="labelled dialogues, a JSON object a line (docs/how-to/check-your-judge.md)"
    )
    parser.add_argument(
        "--judge-model",
        default="embedded",
        metavar="SPEC",
        help="embedded, bedrock:NAME, openai:NAME, module:attribute",
    )
    parser.add_argument(
        "--dimensions",
        default="all",
        metavar="LIST",
        help="readings to compare, such as tc,p (default: all six)",
    )
    parser.add_argument(
        "--protocol",
        choices=("default", "paper"),
        default="default",
        help="what a model is told, as for --personalens-protocol",
    )
    parser.add_argument(
        "--prompts",
        metavar="DIR|official:PATH",
        help="your templates, or the official ones, as for --personalens-prompts",
    )
    parser.add_argument(
        "--concurrency",
        type=at_least(1),
        default=8,
        metavar="N",
        help="readings by a model side by side (default: 8)",
    )
    parser.add_argument("--estimate", action="store_true", help="print calls, tokens and dollars, and end")
    parser.add_argument(
        "--budget",
        type=_cap,
        action="append",
        default=[],
        metavar="CAP",
        help="stop after so many calls or dollars: 200calls, 5usd",
    )
    parser.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="PRICE",
        help="dollars for a million tokens: 'MODEL = IN, OUT'",
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="DIR",
        help="keep what was paid for here (default: user's cache)",
    )
    parser.add_argument("--anew", action="store_true", help="read again what is recorded")
    parser.add_argument("--live", action="store_true", help="let a judge be called that costs money")
    parser.add_argument(
        "--all", action="store_true", help="every disagreement, not the five widest of a reading"
    )
    parser.add_argument(
        "--report",
        type=report_of(("json", "markdown")),
        action="append",
        default=[],
        metavar="PATH",
        help="write all as PATH.json, or the figures as PATH.md; repeatable",
    )
    return parser
