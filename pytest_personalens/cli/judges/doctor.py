"""The command ``doctor``: tries a model before the first run, and says what its server can do and costs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import ModelError, PersonalensError, SpecError
from pytest_personalens.core.judging.usage import Usage, price_of, read_prices
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.models import open_model
from pytest_personalens.models.base import Request
from pytest_personalens.models.retry import Reliable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from pytest_personalens.models.base import Answer

#: The form that the first call asks for.
_FORM: Final = {
    "type": "object",
    "properties": {"justification": {"type": "string"}, "score": {"type": "integer", "enum": [1, 2, 3, 4]}},
    "required": ["justification", "score"],
}
_ASK: Final = (
    "A person asked for a table for two, and the assistant booked one for two. How well did it do, from 1"
    " (badly) to 4 (well)? Answer with a justification of one sentence and the score."
)
#: A text as long as a judge's prompt, whose tokens the server counts. Every text has more than a token for
#: this many characters.
_LINES, _CHARS_A_TOKEN = 240, 8
_LONG: Final = "\n".join(f"Line {n}: the table by the window is free." for n in range(_LINES))
#: The scenarios of the run whose cost is told.
_RUN: Final = 30
_LEARNT: Final = {
    "max_tokens": "it refuses max_tokens, and gets max_completion_tokens",
    "max_completion_tokens": "it refuses every limit of tokens, and gets none",
    "temperature": "it refuses a temperature, and gets none: votes and repeated calls differ",
    "tools": "it refuses tools, and is asked for its verdicts as text",
    "tool_choice": "it takes a tool and no order to use it",
    "system": "it takes no system text, and gets that in its first message",
    "cache": "it refuses cache points, and gets none",
    "stream": "it refuses the field stream, and gets none",
}


@command("doctor")
def main(options: argparse.Namespace) -> int:
    """Try each model, and return 0 if all can be used, else 1."""
    if not options.judge_model and not options.user_model:
        raise SpecError("expected --judge-model SPEC or --user-model SPEC, such as openai:gpt-4o")
    prices, works = read_prices(options.price), True
    for role, spec in (("judge", options.judge_model), ("user", options.user_model)):
        model = open_model(spec) if spec else None
        if spec and model is None:
            raise SpecError(f"{spec!r} is no model; give bedrock:MODEL or openai:MODEL", code="PL303")
        if model is not None:
            works = _examined(role, Reliable(model), prices) and works
    return int(not works)


def _examined(role: str, model: Reliable, prices: Mapping[str, object]) -> bool:
    """Print what three calls of a model tell; return False if it cannot play its role."""
    print(f"{role} {model.name}")
    try:
        model.check_ready()
        for what, text in _findings(role, model):
            print(f"  {what:13} {one_line(text)}")
    except PersonalensError as error:
        print(f"  {'no answer':13} {one_line(str(error))}")
        return False
    finally:
        model.close()
    used = _usage_of_a_run(role)
    price = price_of(model.name, prices)  # type: ignore[arg-type]
    cost = f"${price.of(used):.2f}" if price is not None else "its price is not known; give it with --price"
    print(
        f"  {f'a run of {_RUN}':13} about {used.calls:,} calls, {used.input_tokens:,} tokens in and"
        f" {used.output_tokens:,} out: {cost}"
    )
    return True


def _findings(role: str, model: Reliable) -> Iterator[tuple[str, str]]:
    """Make the calls, and yield what each tells."""
    started = time.monotonic()
    form = model.complete(Request("You judge a digital assistant.", _ASK, max_tokens=1000, answer=_FORM))
    took = time.monotonic() - started
    filled = form.data is not None and form.data.get("score") is not None
    how = "is filled in" if filled else f"is not filled in: {form.problem or form.text[:100]!r}"
    if role == "judge":
        yield "form", f"{how}, in {took:.1f} s"
    text = model.complete(Request("", f"{_LONG}\n\nSay hello in one word.", max_tokens=1000))
    if text.is_empty:
        raise ModelError(text.problem)
    yield "text", f"{text.text.strip()[:40]!r}, ended by {text.word or 'nothing that it told'!r}"
    yield "prompt", _prompt_text(text)
    started = time.monotonic()
    ask = Request("", "Say hello in one word.", max_tokens=200)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(model.complete, [ask, ask]))
    yield "side by side", f"two calls at once took {time.monotonic() - started:.1f} s"
    refused = getattr(model.model, "learnt", None)
    parts = sorted(refused.parts()) if refused is not None else []
    yield from (("learnt", _LEARNT.get(p, f"it takes {p.partition('<=')[2]} tokens at most")) for p in parts)
    if form.thinks or text.thinks:
        yield "thoughts", "it sends its thoughts; they are left out, and take tokens: give ?max_tokens=16000"
    length = getattr(model.model, "context_length", lambda: 0)()
    yield "context", f"{length:,} tokens" if length else "its server does not tell how long"


def _prompt_text(answer: Answer) -> str:
    """Return whether the server read all of a long prompt, as far as its tokens tell."""
    tokens = answer.input_tokens + answer.cached_tokens + answer.written_tokens
    sent = f"{len(_LONG):,} characters were sent"
    if not tokens:
        return f"{sent}, and the server counts no tokens: whether it cuts prompts is not known"
    if tokens * _CHARS_A_TOKEN < len(_LONG):
        return (
            f"WARNING: {sent} and {tokens:,} tokens read: the server cuts long prompts, and a judge would"
            " read half a dialogue; raise its context length"
        )
    return f"{sent} and {tokens:,} tokens read: nothing was cut"


def _usage_of_a_run(role: str) -> Usage:
    """Return about what the role's calls of a run take, in dialogues of the paper's length."""
    from pytest_personalens.agents.by_model.expected_usage import ASSISTANT, ROUNDS, USER, expected_call

    rounds, said = ROUNDS["single"], USER + ASSISTANT
    if role == "judge":
        calls = [expected_call(f"judge {reading}", rounds * said) for reading in ("tc", "p")]
    else:
        calls = [expected_call("user agent", n * said) for n in range(rounds)]
    return sum(calls * _RUN, Usage())
