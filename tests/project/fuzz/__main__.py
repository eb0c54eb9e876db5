"""``python -m tests.project.fuzz``: run mutated inputs; exit code 1 if anything came of one that may not."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Final

from tests.project.fuzz.base import RUN, make_base
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.kinds import KINDS, WITH_A_CONTROL, kind_of
from tests.project.fuzz.oracle import FAULTS, OF_PYTEST, ending, faults
from tests.project.fuzz.runner import PLAIN_PATIENCE, Outcome, Runner

CASES: Final = 1500
SEED: Final = "personalens"
#: How often pytest is run without the plugin, where it is to be seen if it breaks by itself: workers race.
_PLAIN_RUNS: Final = 3
_ENDINGS: Final = ("refused", "failed", "passed", "others' own")


class Fuzzer:
    """Makes and runs the cases of a seed in a folder."""

    def __init__(self, folder: Path, seed: str, only: str = "") -> None:
        self._folder, self._seed, self._only = folder, seed, only
        self._base = folder / "base"
        address = "http://127.0.0.1:1"  # where nobody answers: no case reaches a network
        self.runner = Runner({
            "PATH": os.environ["PATH"], "TMPDIR": tempfile.mkdtemp(dir=folder), "PERSONALENS_CACHE_DIR": str(folder / "cache"),
            "AWS_EC2_METADATA_DISABLED": "true", "AWS_ENDPOINT_URL": address, "OPENAI_BASE_URL": f"{address}/v1",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "200ms",
        })  # fmt: skip

    def prepare(self, kinds: Iterable[str]) -> None:
        """Make the base, and prove that each kind passes where nothing is wrong, and fails else."""
        make_base(self._base, self._make)
        for kind in ["", *(kind for kind in kinds if kind in WITH_A_CONTROL)]:
            for good in (True, False):
                self._control(kind, good=good)

    def run(self, number: int) -> tuple[str, Case, Outcome, Path]:
        """Run the case of a number; its kind, what it is, what came of it, and its folder, which stays."""
        kind = kind_of(self._seed, number, self._only)
        folder = self._folder / f"case-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        case = KINDS[kind][0](Setup(self._base, folder, Random(f"{self._seed}:{number}")))
        return kind, case, self.runner.run(case, folder, good=case.good), folder

    def is_of_pytest(self, case: Case) -> bool:
        """True if pytest without the plugin breaks too in what surrounds the case, once in a few runs."""
        return case.plain is not None and any(self._breaks_plain(case) for _ in range(_PLAIN_RUNS))

    def _breaks_plain(self, case: Case) -> bool:
        folder = Path(tempfile.mkdtemp(dir=self._folder)) / "plain"
        plain = Case("", ("-p", "no:personalens", *(case.plain or ())), environment=case.environment)
        setup = Setup(self._base, folder, Random())
        setup.write("conftest.py", case.hook)
        setup.write("test_bot.py", "def test_one():\n    pass\n\n\ndef test_other():\n    pass\n")
        found = faults(plain, self.runner.run(plain, folder, good=False, patience=PLAIN_PATIENCE))
        shutil.rmtree(folder.parent)
        return not found.keys().isdisjoint(OF_PYTEST)

    def _control(self, kind: str, *, good: bool) -> None:
        folder = Path(tempfile.mkdtemp(dir=self._folder)) / "control"
        setup = Setup(self._base, folder, Random(kind), good=good, mutates=False)
        case = KINDS[kind][0](setup) if kind else Case("", RUN)
        outcome = self.runner.run(case, folder, good=good)
        if (outcome.status == 0) != (good or case.passes(outcome.text)) or "Traceback" in outcome.text:
            what = f"the control of {kind or 'all'}, {'good' if good else 'bad'}"
            raise SystemExit(f"{what}, ended with {outcome.status}:\n{outcome.text}")
        shutil.rmtree(folder.parent)

    def _make(self, case: Case, folder: Path, good: bool) -> None:
        outcome = self.runner.run(case, folder, good=good)
        dies = dict(case.environment).get("FUZZ_DIES")
        if outcome.status not in ((9,) if dies else (0,) if good else (0, 1)):
            words = shlex.join(case.arguments)
            raise SystemExit(f"what the cases begin with cannot be made: {words}\n{outcome.text}")


def main() -> int:
    """Run the command."""
    options = _parser().parse_args()
    seed, only = shlex.quote(options.seed), f" --kind {shlex.quote(options.kind)}" if options.kind else ""
    first, many = (options.start, options.cases) if options.case is None else (options.case, 1)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    started = time.monotonic()
    fuzzer, numbers = Fuzzer(folder, options.seed, options.kind), range(first, first + many)
    try:
        fuzzer.prepare(sorted({kind_of(options.seed, number, options.kind) for number in numbers}))
        counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        for number in numbers:
            kind, case, outcome, place = fuzzer.run(number)
            found, end = faults(case, outcome), ending(outcome)
            if not found.keys().isdisjoint(OF_PYTEST) and fuzzer.is_of_pytest(case):
                found = {fault: shown for fault, shown in found.items() if fault not in OF_PYTEST}
                end = "others' own"
            counts[kind].update(["cases", *(found or [end])])
            for fault, shown in found.items():
                again = f"python -m tests.project.fuzz --seed {seed}{only} --case {number}"
                print(f"{fault}: {shown} ({kind}, {case.what[:200]}): {again}", flush=True)
            if options.case is not None:
                print(f"{kind}: {case.what}\n$ {case.module} {shlex.join(case.arguments)}")
                print(f"exit status {outcome.status}\n{outcome.text}")
            if not options.keep:
                shutil.rmtree(place, ignore_errors=True)
        print(*table(counts), sep="\n")
        print(f"seed {options.seed!r}, {many} cases, {time.monotonic() - started:.0f} s", file=sys.stderr)
        return int(any(count[fault] for count in counts.values() for fault in FAULTS))
    finally:
        fuzzer.runner.close()
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"kept in {folder}", file=sys.stderr)


def table(counts: dict[str, Counter[str]]) -> list[str]:
    """The lines of a Markdown table: a row for each kind, with how its cases ended."""
    columns = ("cases", *_ENDINGS, *FAULTS)
    lines = [f"| input | {' | '.join(columns)} |", "| --- |" + " ---: |" * len(columns)]
    rows = {kind: count for kind, count in counts.items() if count}
    for name, count in {**rows, "all": sum(rows.values(), Counter())}.items():
        lines.append(f"| {name} | {' | '.join(f'{count[column]:,}' for column in columns)} |")
    return lines


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.project.fuzz", description=__doc__)
    add = parser.add_argument
    add("--seed", default=SEED, help=f"another text gives other cases (default: {SEED})")
    add("--cases", type=int, default=CASES, metavar="N", help=f"how many (default: {CASES})")
    add("--start", type=int, default=0, metavar="N", help="the number of the first (default: 0)")
    add("--case", type=int, metavar="N", help="the case of this number alone, with all that it printed")
    add("--kind", default="", choices=sorted(KINDS), help="inputs of this kind alone")
    add("--keep", action="store_true", help="leave the folders of the cases where they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
