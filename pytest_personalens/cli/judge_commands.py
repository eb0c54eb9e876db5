"""Commands about judges: agreement with labels, calibrate by labels, and label, which gathers them."""

from __future__ import annotations

import importlib
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_agents import ModelAgents, PromptSettings
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.cli.command import report_files
from pytest_personalens.cli.paid_calls import (
    budget_of,
    keeping,
    open_reliable,
    print_progress,
    print_usage,
    refuse_unpriced,
)
from pytest_personalens.core.errors import BudgetSpent, SpecError, error_text
from pytest_personalens.core.files.destinations import cache_folder, file_kind, writable
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.judging.measure import Dimension, dimensions
from pytest_personalens.core.judging.usage import Usage, expected_call, price_of, read_prices, tokens_in
from pytest_personalens.core.judging.verdict import LABELLED
from pytest_personalens.core.safe_text import count
from pytest_personalens.engine.agents_on_tape import JudgeByCase, JudgeOnTape, offered
from pytest_personalens.judge_quality import agreement as kappas
from pytest_personalens.judge_quality import label_page
from pytest_personalens.judge_quality.labels import read_labels
from pytest_personalens.models import open_model
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.models.meter import Meter
from pytest_personalens.models.tape import Tape
from pytest_personalens.results.values.calibration import Calibration, correct
from pytest_personalens.results.values.results import read_results
from pytest_personalens.results.wording import ends_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.judge_quality.agreement import Agreement
    from pytest_personalens.judge_quality.label_page import Unlabelled
    from pytest_personalens.judge_quality.labels import Labelled

#: What is said when a paid judge is stopped.
_KEPT: Final = "what was judged is kept, and the same command goes on from there"
#: With fewer labels of a class, an interval tells next to nothing.
_FEW: Final = 20
#: Dialogues to label, which take a person about half an hour.
_COUNT: Final = 30


def agreement(options: argparse.Namespace) -> None:
    """Compare a judge with labelled dialogues."""
    _refuse_unlabelled(dimensions(options.dimensions.split(",")))
    # The paths are checked before any paid call: the user learns early of a path that cannot be written,
    # and no file of somebody else is replaced.
    paths = report_files(options.report, {"this command": options.labels}) if not options.estimate else []

    def conclude(agreement: Agreement) -> None:
        print(*kappas.agreement_lines(agreement, most=agreement.dialogues if options.all else 5), sep="\n")
        for path in paths:
            text = f"{agreement.model_dump_json(indent=2)}\n" if file_kind(path) == "json" else None
            write_atomically(path, text or kappas.agreement_markdown(agreement))

    _judge_labels(options, conclude)


def calibrate(options: argparse.Namespace) -> None:
    """Measure a judge's errors on labels, for the correction of rates."""
    options.dimensions, options.idle = "tc,p", False
    if not options.estimate:
        writable(options.write, "--write")

    def conclude(agreement: Agreement) -> None:
        calibration = _calibration(agreement, options)
        print(*_lines(calibration), sep="\n")
        for reading in agreement.readings:
            print(*kappas.confusion_lines(reading), sep="\n")
        if agreement.faults:
            print(_not_judged(agreement))
        write_atomically(options.write, f"{calibration.model_dump_json(indent=2, by_alias=True)}\n")
        print(f"written: {options.write}; give it as personalens_calibration to runs with this judge")

    _judge_labels(options, conclude)


def _judge_labels(options: argparse.Namespace, conclude: Callable[[Agreement], None]) -> None:
    """Have a judge read labelled dialogues as the options say, and `conclude` from their agreement."""
    labelled, chosen = read_labels(options.labels), dimensions(options.dimensions.split(","))
    spec, prices = options.judge_model, read_prices(options.price)
    if not any(item.majority(d) is not None for item in labelled for d in chosen):
        raise SpecError(
            f"{options.labels}: holds no label of {', '.join(d.short for d in chosen)}; put them in"
            " (docs/how-to/models/check-your-judge.md)",
            code="PL207",
        )
    prompts, model = PromptSettings(options.protocol, options.prompts), open_model(spec)
    price = price_of(spec if model is None else model.name, prices)
    with budget_of(options) as budget:
        meter = Meter(budget=budget, prices=prices)
        opened = open_judge(spec, meter, prompts, at_once=options.concurrency)
        judge, known = opened(Tape()), None
        paid, given = judge.paid, getattr(judge, "dimensions", None)
        if paid:
            log, strict = _open_log(options), options.records is not None
            known = JudgeByCase(opened, log, may_spend=False, strict=strict)
            judge = JudgeByCase(opened, log, may_spend=options.live, anew=options.anew)
        if options.dimensions == "all" and given is not None:
            chosen = tuple(d for d in chosen if d in given)
        plain = list(kappas.labelled_readings(labelled, chosen))
        readings = [*plain, *kappas.idle_readings(plain)] if options.idle else plain
        unread = [
            (item, d)
            for item, d in readings
            if known is None or options.anew or not known.knows(item.scenario, item.dialogue, d)
        ]
        if options.estimate or (unread and paid and options.live):
            if model is None:
                cost = "at a cost that nobody here knows"
                print(f"{spec} is no model of ours: it makes {len(unread)} readings, {cost}")
            elif not unread:
                print("every reading is recorded: it costs nothing")
            else:
                print("an estimate, nothing read from a provider's cache:")
                print_usage(_expected(unread, prompts.named or "default"), lambda purpose: price)
        if options.estimate:
            return
        if paid and unread:
            if not options.live:
                raise SpecError(f"{spec} costs money: add --live to call it", code="PL304")
            refuse_unpriced(options, spec, price)
        with keeping(_KEPT if paid else "", BudgetSpent):
            agreement = kappas.measure(
                labelled,
                judge,
                dimensions=chosen,
                progress=lambda done: print_progress(done, len(labelled), "dialogues"),
                at_once=options.concurrency,
            )
            moved = kappas.idle_lines(plain, judge, at_once=options.concurrency) if options.idle else []
    if not agreement.readings:
        print_usage(meter.usage, lambda purpose: price)
        raise SpecError(f"{options.labels}: nothing could be judged; {_not_judged(agreement)}", code="PL303")
    conclude(agreement)
    if moved:
        print(*moved, sep="\n")
    if replayed := len(readings) - len(unread):
        print(f"{replayed} readings from records")
    print_usage(meter.usage, lambda purpose: price)


def open_judge(
    spec: str, meter: Meter, prompts: PromptSettings, *, at_once: int = 1
) -> Callable[[Tape], Judge]:
    """Return what makes the judge of a tape: ``embedded``, a model of ours, or ``module:attribute``.

    The attribute is a judge, or a class that makes one. A model gives up to `at_once` readings at a time.
    Raise `SpecError` for a bad spec, and for prompts that no model gets.
    """
    if spec != "embedded" and open_model(spec) is not None:
        model, agents = open_reliable(spec, at_once), ModelAgents(prompts)
        return lambda tape: agents.judge(model, meter.on(tape))
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


def _expected(readings: Sequence[tuple[Labelled, Dimension]], protocol: str) -> dict[str, Usage]:
    """Return the calls and tokens that the readings would take, by purpose, with the real prompts."""
    usage: dict[str, Usage] = {}
    for item, dimension in readings:
        reads = tokens_in(message.content for message in item.dialogue.messages)
        call = expected_call(dimension.purpose, reads, protocol=protocol, kind=item.scenario.kind)
        usage[dimension.purpose] = usage.get(dimension.purpose, Usage()) + call
    return dict(sorted(usage.items()))


def _open_log(options: argparse.Namespace) -> CallLog:
    try:
        return CallLog(options.records or cache_folder() / "agreement", uuid.uuid4().hex)
    except (OSError, RuntimeError) as error:
        where, why = getattr(error, "filename", None) or "the cache", getattr(error, "strerror", None)
        raise SpecError(
            f"what is bought could not be kept: {where}: {why or error}; name another folder with --records",
            code="PL105",
        ) from None


def _not_judged(agreement: Agreement) -> str:
    name, why = next(iter(agreement.faults.items()))
    return f"not judged: {len(agreement.faults)}, such as {name}: {why}"


def _calibration(agreement: Agreement, options: argparse.Namespace) -> Calibration:
    found = {reading.dimension: reading.confusion for reading in agreement.readings}
    tc = found.get(Dimension.TASK_COMPLETION, {})
    done, failed = (sum(tc.get(f"{label} -> {read}", 0) for read in (0, 1)) for label in (1, 0))
    if not done or not failed:
        unread = f" ({_not_judged(agreement)})" if agreement.faults else ""
        raise SpecError(
            f"{options.labels}: {done} dialogues are labelled as completed and {failed} as not, and were"
            f" judged{unread}; a calibration needs some of each, best 50",
            code="PL207",
        )
    return Calibration(
        judge=agreement.judge,
        dialogues=agreement.dialogues,
        completed=done,
        seen_completed=tc.get("1 -> 1", 0),
        failed=failed,
        seen_failed=tc.get("0 -> 0", 0),
        personalization=found.get(Dimension.PERSONALIZATION, {}),
    )


def _lines(calibration: Calibration) -> list[str]:
    of_true, of_false = calibration.sensitivity, calibration.specificity
    lines = [f"{calibration.judge}: {count(calibration.dialogues, 'labelled dialogue')}"]
    for name, found, what in (
        ("sensitivity", of_true, "completed tasks"),
        ("specificity", of_false, "failed tasks"),
    ):
        ends = ends_text(*found.ends)
        lines.append(f"{name} {found.share:.2f} (95 % {ends}): sees {found.right} of {found.of} {what}")
    corrected = correct(0.8, 100, of_true, of_false)
    if corrected is None:
        lines.append("no better than chance: no rate of this judge can be corrected")
    else:
        shown = f"{corrected.value:.2f} (95 % {ends_text(corrected.low, corrected.high)})"
        lines.append(f"a rate read as 0.80 over 100 dialogues is corrected to {shown}")
    if min(of_true.of, of_false.of) < _FEW:
        lines.append(f"fewer than {_FEW} labels of a class: the intervals are wide, and are meant to be")
    return lines


def label(options: argparse.Namespace) -> None:
    """Give stored dialogues to people to label, as a page or as a file."""
    is_page = file_kind(options.out) == "html"
    if not is_page and options.out.suffix != ".jsonl":
        raise SpecError(f"--out: expected a path that ends in .html or .jsonl, not {options.out}")
    annotators = list(dict.fromkeys(name.strip() for name in options.annotators.split(",") if name.strip()))
    if not annotators:
        raise SpecError("--annotators: expected names separated by commas, such as ann,bo,cy")
    readings = dimensions(options.dimensions.split(","))
    _refuse_unlabelled(readings)
    # A file of labels is never written over: it is not told from one that holds what somebody said.
    writable(options.out, "--out", kind="html" if is_page else "json")
    drawn = _drawn(options.dialogues, options.count, options.seed)
    if is_page:
        write_atomically(options.out, label_page.label_page(drawn, readings))
        told = (
            f"open {options.out} in a browser and label; it needs no network, keeps what you say, and saves"
            " labels.jsonl, which personalens agreement and personalens calibrate read"
        )
    else:
        write_atomically(options.out, label_page.label_lines(drawn, annotators, readings))
        told = (
            f"put the labels of {', '.join(annotators)} in the place of null, then: personalens agreement"
            f" {options.out}"
        )
    single, multi = (sum(one.scenario.kind == kind for one in drawn) for kind in ("single", "multi"))
    print(f"{len(drawn)} dialogues, {single} single-domain and {multi} multi-domain ones: {told}")


def _refuse_unlabelled(readings: Sequence[Dimension]) -> None:
    if unknown := [d.short for d in readings if d not in LABELLED]:
        raise SpecError(f"--dimensions {unknown[0]}: people label {', '.join(d.short for d in LABELLED)}")


def _drawn(paths: list[Path], count: int | None, seed: str) -> list[Unlabelled]:
    """Return the dialogues of results, or of one file of labels; the labels that it holds stay behind."""
    if any(path.suffix == ".jsonl" for path in paths):
        if len(paths) > 1:
            raise SpecError(f"{paths[1]}: give one file of labels, or results (.json) of one or more runs")
        return label_page.unlabelled_in(paths[0], count, seed=seed)
    return label_page.draw_dialogues(
        [read_results(path) for path in paths], count or _COUNT, seed=seed, at_most=count is None
    )
