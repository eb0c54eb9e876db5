"""``python -m pytest_personalens agreement LABELS.jsonl``: how far to trust a judge, on dialogues that somebody labelled."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, errors_told, report_of
from pytest_personalens.core.errors import SpecError, error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.verdict import Judge
    from pytest_personalens.models.meter import Meter


#: The exit status of a command that was stopped by Ctrl-C, as shells have it.
_INTERRUPTED: Final = 130


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, or 4 for what cannot be read or judged at all."""
    options = _parser().parse_args(arguments)
    from pytest_personalens.core.atomic_write import write_atomically
    from pytest_personalens.core.destinations import kind_of, refuse_shared_files, writable
    from pytest_personalens.core.verdict import dimensions
    from pytest_personalens.judge_quality import measure, read_labels, render
    from pytest_personalens.judge_quality.kept import Kept
    from pytest_personalens.models.meter import Meter

    meter, chosen = Meter(), dimensions(options.dimensions.split(","))
    labelled = read_labels(options.labels)
    if not any(item.majority(d) is not None for item in labelled for d in chosen):
        raise SpecError(
            f"{options.labels}: holds no label of {', '.join(d.short for d in chosen)}; put them in (docs/how-to/check-your-judge.md)"
        )
    judge = open_judge(options.judge_model, meter)
    if judge.paid and not options.live:
        raise SpecError(f"{options.judge_model} costs money: add --live to call it")
    # Before anything is paid for: a path that cannot be written is told now, and a file of somebody else's is not replaced.
    files = [("--report", Path(text)) for text in options.report]
    refuse_shared_files(files, {"this command": options.labels})
    for flag, path in files:
        writable(path, flag, kind=str(kind_of(path)))
    kept = Kept(labelled, judge) if judge.paid else None
    try:
        agreement = measure(labelled, kept or judge, dimensions=chosen, progress=_progress(len(labelled)))
    except KeyboardInterrupt:
        print("stopped; what was judged is kept, and the same command goes on from there" if kept else "stopped", file=sys.stderr)
        return _INTERRUPTED
    print(*render.lines(agreement, most=len(labelled) if options.all else 5), sep="\n")
    used = [f"{purpose}: {u.calls} calls, {u.input_tokens:,} tokens in, {u.output_tokens:,} out" for purpose, u in meter.usage.items()]
    print(*used, sep="\n", end="\n" if used else "")
    for _, path in files:
        write_atomically(path, agreement.model_dump_json(indent=2) + "\n" if kind_of(path) == "json" else render.markdown(agreement))
    if kept is not None:
        kept.forget()  # the next measurement is a new one
    return 0


def open_judge(spec: str, meter: Meter) -> Judge:
    """The judge of a spec: ``embedded``, a model of ours, or ``module:attribute`` (a judge, or what makes one). Raises `SpecError`."""
    from pytest_personalens.agents import EmbeddedJudge
    from pytest_personalens.agents.by_model.model_judge import ModelJudge
    from pytest_personalens.agents.by_model.prompts import Prompts
    from pytest_personalens.agents.checked import offered
    from pytest_personalens.models.open import open_model
    from pytest_personalens.models.retry import Reliable

    if spec == "embedded":
        return EmbeddedJudge()
    model = open_model(spec)
    if model is not None:
        return ModelJudge(Reliable(model), meter, Prompts())
    module, colon, attribute = spec.partition(":")
    if not colon:
        raise SpecError(f"--judge-model: expected embedded, bedrock:MODEL, openai:MODEL or module:attribute, not {spec!r}")
    import importlib

    sys.path.insert(0, str(Path.cwd()))
    try:
        candidate = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever the module does when it is imported
        raise SpecError(f"--judge-model: cannot take {attribute!r} from {module!r}: {error_text(error)}") from None
    judge: Judge | None = offered("judge", lambda: candidate() if isinstance(candidate, type) else candidate, "--judge-model")
    if judge is None:
        raise SpecError(f"--judge-model: {spec!r} is None, and no judge")
    return judge


def _progress(total: int) -> Callable[[int], None]:
    def show(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {total} dialogues", end="\n" if done == total else "", file=sys.stderr, flush=True)

    return show


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens agreement",
        description="Run a judge over labelled dialogues and report how it agrees with the labels, and these with each other.",
        example="personalens agreement labels.jsonl --report agreement.md",
    )
    parser.add_argument("labels", type=Path, help="labelled dialogues, a JSON object a line (docs/how-to/check-your-judge.md)")
    parser.add_argument("--judge-model", default="embedded", metavar="SPEC", help="embedded, bedrock:MODEL, openai:MODEL, module:attribute")
    parser.add_argument("--dimensions", default="all", metavar="LIST", help="readings to compare, such as tc,p (default: all six)")
    parser.add_argument("--live", action="store_true", help="let a judge be called that costs money")
    parser.add_argument("--all", action="store_true", help="every disagreement instead of the five widest of each reading")
    parser.add_argument(
        "--report",
        type=report_of(("json", "markdown")),
        action="append",
        default=[],
        metavar="PATH",
        help="write everything as JSON (PATH.json), or the figures as a Markdown table (PATH.md); may be repeated",
    )
    parser.refuse("json", "markdown")
    return parser
