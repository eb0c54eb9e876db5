"""The command ``label``: gives stored dialogues to people to label, as a page or as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.destinations import file_kind, writable
from pytest_personalens.core.files.links import write_atomically

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from pytest_personalens.judge_quality.agreement.annotation import Unlabelled

#: So many take a person about half an hour.
_COUNT: Final = 30


@command("label")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if something cannot be read, drawn or written."""
    from pytest_personalens.core.judging.dimensions import dimensions
    from pytest_personalens.core.judging.verdict import LABELLED
    from pytest_personalens.judge_quality.agreement import annotation, label_page

    is_page = file_kind(options.out) == "html"
    if not is_page and options.out.suffix != ".jsonl":
        raise SpecError(f"--out: expected a path that ends in .html or .jsonl, not {options.out}")
    annotators = list(dict.fromkeys(name.strip() for name in options.annotators.split(",") if name.strip()))
    if not annotators:
        raise SpecError("--annotators: expected names separated by commas, such as ann,bo,cy")
    readings = dimensions(options.dimensions.split(","))
    if unknown := [d.short for d in readings if d not in LABELLED]:
        raise SpecError(f"--dimensions {unknown[0]}: people label {', '.join(d.short for d in LABELLED)}")
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
        write_atomically(options.out, annotation.label_lines(drawn, annotators, readings))
        told = (
            f"put the labels of {', '.join(annotators)} in the place of null, then: personalens agreement"
            f" {options.out}"
        )
    single, multi = (sum(one.scenario.kind == kind for one in drawn) for kind in ("single", "multi"))
    print(f"{len(drawn)} dialogues, {single} single-domain and {multi} multi-domain ones: {told}")
    return 0


def _drawn(paths: list[Path], count: int | None, seed: str) -> list[Unlabelled]:
    """Return the dialogues of results, or of one file of labels; the labels that it holds stay behind."""
    from pytest_personalens.judge_quality.agreement import annotation
    from pytest_personalens.results.values.results import read_results

    if any(path.suffix == ".jsonl" for path in paths):
        if len(paths) > 1:
            raise SpecError(f"{paths[1]}: give one file of labels, or results (.json) of one or more runs")
        return annotation.unlabelled_in(paths[0], count, seed=seed)
    return annotation.draw_dialogues(
        [read_results(path) for path in paths], count or _COUNT, seed=seed, at_most=count is None
    )
