"""Wires a model to the pieces of a dataset: calls within a budget, an estimate, progress, what it cost."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.by_model.expected_usage import tokens_in
from pytest_personalens.core.errors import BudgetSpent, DataError, PersonalensError, SpecError
from pytest_personalens.core.judging.usage import Usage, price_of, read_prices
from pytest_personalens.core.runtime import Threads
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.datasets.embedded.building.model_pieces import (
    SYSTEM,
    Pieces,
    make_folder,
    prompt_text,
)
from pytest_personalens.models import open_model
from pytest_personalens.models.base import Request
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.models.meter import Budget, Meter
from pytest_personalens.models.retry import Limiter, Reliable
from pytest_personalens.models.tape import Tape
from pytest_personalens.reports.terminal.summary_lines import usage_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.datasets.embedded.building.chats import Chat
    from pytest_personalens.datasets.embedded.building.model_pieces import Answer

#: Where the pieces lie in the folder of --out.
PIECES: Final = ".pieces"
#: The exit status after Ctrl-C, the same as in shells.
_INTERRUPTED: Final = 130
#: What an estimate assumes: the tokens of a prompt and of an answer by step. The prompts are those of the
#: example's plan, which the tests compare.
_TOKENS: Final = {
    "task": (530, 700),
    "person": (380, 150),
    "preferences": (370, 150),
    "history": (380, 500),
    "judge": (370, 40),
    "chat": (330, 200),
    "incident": (500, 150),
}
_TEMPERATURE, _MOST_TOKENS = 0.7, 4000


class Asking:
    """The models of a command, and the pieces that they make; `steps` is the number of pieces by step."""

    def __init__(self, options: argparse.Namespace, steps: Mapping[str, int]) -> None:
        self._options, self._steps, self._done = options, steps, 0
        self._prices, self._caps = read_prices(options.price), dict(options.budget)
        self._judged: str = getattr(options, "judge_model", None) or ""
        self._models = {spec: self._open(spec) for spec in {options.model, self._judged} if spec}
        for spec, model in self._models.items():
            if "usd" in self._caps and price_of(model.name, self._prices) is None:
                raise SpecError(f"--budget: no price is known for {spec}; give it with --price", code="PL304")
        self.folder, self.pool = options.out / PIECES, Threads(options.concurrency)
        self._meter = Meter(prices=self._prices)

    @contextmanager
    def pieces(self) -> Iterator[Pieces]:
        """Yield the pieces, to be made within the caps; print at the end what the calls cost.

        An error of a model ends the block as one that says that nothing is lost, and so does Ctrl-C.
        """
        make_folder(self.folder)
        kept = f"what was made is kept in {self.folder}, and the same command goes on from there"
        with tempfile.TemporaryDirectory(prefix="personalens-") as shared:
            calls, usd = self._caps.get("calls"), self._caps.get("usd")
            budget = Budget(Path(shared) / "run", max_calls=calls, max_usd=usd, option="--budget")
            # Answers that were refused are kept too, and those of the judge, until the command has ended.
            log = self.folder / "calls"
            try:
                tape = Tape(calls=CallLog(log).case("pieces"))
            except OSError as error:
                raise DataError(
                    log, f"cannot be written: {error.strerror}; remove it", code="PL105"
                ) from None
            self._meter = Meter(budget=budget, prices=self._prices, tape=tape)
            try:
                yield self._pieces(self._options.model, self._count)
                shutil.rmtree(log, ignore_errors=True)
            except KeyboardInterrupt:
                print(one_line(f"stopped; {kept}"), file=sys.stderr)
                raise SystemExit(_INTERRUPTED) from None
            except PersonalensError as error:
                # What is paid for already is waited for, and kept.
                self.pool.shutdown(wait=isinstance(error, BudgetSpent), cancel_futures=True)
                raise PersonalensError(f"{error}; {kept}") from None
            finally:
                self._print_usage(self._meter.usage, sys.stderr)

    def judge(self, profile: Answer, text: Answer) -> list[str]:
        """Return the conflicts that --judge-model finds between a profile and a text of the same person."""
        if not self._judged:
            return []
        judging = self._pieces(self._judged, lambda: None)
        prompt = prompt_text("judge", profile=profile, text=text)
        found = judging.ask("judge", "judge", prompt, _judge_problems)
        if found is None:
            return [f"the consistency judge cannot be read: {judging.given_up['judge'][0]}"]
        return [f"{c['first']} and {c['second']}: {c.get('why', 'a conflict')}" for c in found["conflicts"]]

    def print_estimate(self, chats: Sequence[Chat] = ()) -> None:
        """Print the calls and tokens of all pieces, none of them made before, and their cost.

        `chats` are the dialogues that the prompts hold, each in one of them.
        """
        print("an estimate, every answer usable at once; a refused answer costs one more call:")
        steps = dict(self._steps)
        if self._judged:
            steps["judge"] = sum(calls for step, calls in steps.items() if step != "task")
        held = tokens_in(text for chat in chats for _, text in chat.turns)
        usage = {
            step: Usage(calls=calls, input_tokens=calls * sent, output_tokens=calls * answered)
            for step, calls in steps.items()
            for sent, answered in (_TOKENS[step],)
        }
        for step in usage if held else ():
            usage[step] += Usage(input_tokens=held)
        self._print_usage(usage, sys.stdout)

    def _pieces(self, spec: str, made: Any) -> Pieces:
        model = self._models[spec]

        def ask(step: str, prompt: str) -> str:
            request = Request(SYSTEM, prompt, temperature=_TEMPERATURE, max_tokens=_MOST_TOKENS)
            return self._meter.complete(model, request, step).text

        return Pieces(self.folder, ask, model=model.name, attempts=self._options.attempts, made=made)

    def _open(self, spec: str) -> Reliable:
        model = open_model(spec, connections=max(64, self._options.concurrency))
        if model is None:
            raise SpecError(f"{spec!r} is no model; give bedrock:MODEL or openai:MODEL", code="PL303")
        return Reliable(model, limiter=Limiter(start=self._options.concurrency))

    def _count(self) -> None:
        self._done += 1
        if sys.stderr.isatty():
            steps = sum(self._steps.values())
            end = "\n" if self._done == steps else ""
            print(f"\r{self._done} of {steps} pieces", end=end, file=sys.stderr, flush=True)

    def _print_usage(self, usage: Mapping[str, Usage], stream: Any) -> None:
        costs: dict[str, float] = {}
        for step, used in usage.items():
            model = self._models.get(self._judged if step == "judge" else self._options.model)
            if model is not None and (price := price_of(model.name, self._prices)) is not None:
                costs[step] = price.of(used)
        print(*usage_table(usage, costs), sep="\n", end="\n" if usage else "", file=stream)


def _judge_problems(answer: Answer) -> list[str]:
    conflicts = answer.get("conflicts")
    if isinstance(conflicts, list) and all(
        isinstance(c, dict) and {"first", "second"} <= c.keys() for c in conflicts
    ):
        return []
    return ["conflicts: expected a list of objects with first, second and why"]
