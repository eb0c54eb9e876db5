"""What commands share that pay for calls: caps, prices, an estimate, what a stop leaves, the usage."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from pytest_personalens.core.errors import BudgetSpent, DataError, PersonalensError, SpecError
from pytest_personalens.core.judging.usage import Usage, price_of, read_prices, tokens_in
from pytest_personalens.core.runtime import Threads
from pytest_personalens.core.safe_text import one_line
from pytest_personalens.datasets.embedded.building.builder import (
    SYSTEM,
    Pieces,
    make_folder,
    prompt_text,
)
from pytest_personalens.models import open_model
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.models.meter import Budget, Meter
from pytest_personalens.models.model import Request
from pytest_personalens.models.retry import Limiter, Reliable
from pytest_personalens.models.tape import Tape
from pytest_personalens.reports.terminal.summary_lines import usage_table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.datasets.embedded.building.builder import Answer
    from pytest_personalens.datasets.embedded.building.drafts import Chat

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


@contextmanager
def budget_of(options: argparse.Namespace) -> Iterator[Budget]:
    """Yield the caps of --budget, for one command."""
    caps = dict(options.budget)
    with tempfile.TemporaryDirectory(prefix="personalens-") as folder:
        calls, usd = caps.get("calls"), caps.get("usd")
        yield Budget(Path(folder) / "run", max_calls=calls, max_usd=usd, option="--budget")


@contextmanager
def keeping(kept: str, errors: type[PersonalensError] = PersonalensError) -> Iterator[None]:
    """Add to what a stop says, by Ctrl-C or by these `errors`, what is `kept`. Ctrl-C exits with 130."""
    try:
        yield
    except KeyboardInterrupt:
        print(one_line(f"stopped; {kept}" if kept else "stopped"), file=sys.stderr)
        raise SystemExit(_INTERRUPTED) from None
    except errors as error:
        raise PersonalensError(f"{error}; {kept}", code=error.code) from None


def open_reliable(spec: str, at_once: int) -> Reliable:
    """Return a model for so many calls at once. Raise `SpecError` for a name that is none of a model."""
    model = open_model(spec, connections=max(64, at_once))
    if model is None:
        raise SpecError(f"{spec!r} is no model; give bedrock:MODEL or openai:MODEL", code="PL303")
    return Reliable(model, limiter=Limiter(start=at_once), empty_attempts=2)


def refuse_unpriced(options: argparse.Namespace, spec: str, price: Price | None) -> None:
    """Raise `SpecError` if --budget caps dollars, and the model has no price."""
    if price is None and "usd" in dict(options.budget):
        raise SpecError(f"--budget: no price is known for {spec}; give it with --price", code="PL304")


def print_usage(
    usage: Mapping[str, Usage], price: Callable[[str], Price | None], stream: TextIO | None = None
) -> None:
    """Print the usage by purpose as a table, with its cost where the `price` of a purpose is known."""
    prices = {purpose: price(purpose) for purpose in usage}
    costs = {purpose: known.of(usage[purpose]) for purpose, known in prices.items() if known is not None}
    print(*usage_table(usage, costs), sep="\n", end="\n" if usage else "", file=stream)


def print_progress(done: int, total: int, what: str) -> None:
    """Print how far a command is, in one line of a terminal; nothing elsewhere."""
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} {what}", end=end, file=sys.stderr, flush=True)


class Asking:
    """The models of a command, and the pieces that they make; `steps` is the number of pieces by step."""

    def __init__(self, options: argparse.Namespace, steps: Mapping[str, int]) -> None:
        self._options, self._steps, self._done = options, steps, 0
        self._prices = read_prices(options.price)
        self._judged: str = getattr(options, "judge_model", None) or ""
        specs = {spec for spec in (options.model, self._judged) if spec}
        self._models = {spec: open_reliable(spec, options.concurrency) for spec in specs}
        for spec, model in self._models.items():
            refuse_unpriced(options, spec, price_of(model.name, self._prices))
        #: Where the pieces lie in the folder of --out.
        self.folder, self.pool = options.out / ".pieces", Threads(options.concurrency)
        self._meter = Meter(prices=self._prices)

    @contextmanager
    def pieces(self) -> Iterator[Pieces]:
        """Yield the pieces, to be made within the caps; print at the end what the calls cost.

        An error of a model ends the block as one that says that nothing is lost, and so does Ctrl-C.
        """
        make_folder(self.folder)
        # Answers that were refused are kept too, and those of the judge, until the command has ended.
        log = self.folder / "calls"
        kept = f"what was made is kept in {self.folder}, and the same command goes on from there"
        try:
            tape = Tape(calls=CallLog(log).case("pieces"))
        except OSError as error:
            raise DataError(log, f"cannot be written: {error.strerror}; remove it", code="PL105") from None
        with budget_of(self._options) as budget, keeping(kept):
            self._meter = Meter(budget=budget, prices=self._prices, tape=tape)
            try:
                yield self._pieces(self._options.model, self._count)
                shutil.rmtree(log, ignore_errors=True)
            except PersonalensError as error:
                # What is paid for already is waited for, and kept.
                self.pool.shutdown(wait=isinstance(error, BudgetSpent), cancel_futures=True)
                raise
            finally:
                print_usage(self._meter.usage, self._price, sys.stderr)

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
        held = Usage(input_tokens=tokens_in(text for chat in chats for _, text in chat.turns))
        usage = {
            step: held + Usage(calls=calls, input_tokens=calls * sent, output_tokens=calls * answered)
            for step, calls in steps.items()
            for sent, answered in (_TOKENS[step],)
        }
        print_usage(usage, self._price)

    def _pieces(self, spec: str, made: Callable[[], None]) -> Pieces:
        model = self._models[spec]

        def ask(step: str, prompt: str) -> str:
            request = Request(SYSTEM, prompt, temperature=_TEMPERATURE, max_tokens=_MOST_TOKENS)
            return self._meter.complete(model, request, step).text

        return Pieces(self.folder, ask, model=model.name, attempts=self._options.attempts, made=made)

    def _count(self) -> None:
        self._done += 1
        print_progress(self._done, sum(self._steps.values()), "pieces")

    def _price(self, step: str) -> Price | None:
        model = self._models.get(self._judged if step == "judge" else self._options.model)
        return None if model is None else price_of(model.name, self._prices)


def _judge_problems(answer: dict[str, Any]) -> list[str]:
    conflicts = answer.get("conflicts")
    if isinstance(conflicts, list) and all(
        isinstance(c, dict) and {"first", "second"} <= c.keys() for c in conflicts
    ):
        return []
    return ["conflicts: expected a list of objects with first, second and why"]
