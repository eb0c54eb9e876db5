"""Model calls, their tokens and their cost, and what a call is expected to take before it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens: input, output, input read from a cache, and input written to one."""

    input: float
    output: float
    cached: float
    written: float

    def of(self, usage: Usage) -> float:
        """Return the cost of `usage` in US dollars."""
        used = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.written_tokens)
        return sum(tokens * price for tokens, price in zip(used, self, strict=True)) / _MILLION


def read_prices(lines: Sequence[str]) -> dict[str, Price]:
    """Read lines ``MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]]``; the last two default to INPUT."""
    prices: dict[str, Price] = {}
    for line in lines:
        model, equals, numbers = line.rpartition("=")
        try:
            values = [float(n) for n in numbers.split(",")]
            known = all(0 <= v < float("inf") for v in values)
            if not (equals and model.strip() and 2 <= len(values) <= 4 and known):
                raise ValueError
        except ValueError:
            raise SpecError(
                "expected 'MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]]' in dollars for a million tokens,"
                f" found {line!r}"
            ) from None
        prices[model.strip()] = Price(*values, *[values[0]] * (4 - len(values)))
    return prices


def price_of(name: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model by its name, with or without its parameters."""
    return prices.get(name) or prices.get(name.partition("?")[0])


def add_usage(first: Mapping[str, Usage], second: Mapping[str, Usage]) -> dict[str, Usage]:
    """Return the sum of both for each purpose, sorted by name."""
    return {
        purpose: first.get(purpose, Usage()) + second.get(purpose, Usage())
        for purpose in sorted({*first, *second})
    }


class Usage(Frozen):
    """Calls of models, with tokens at full price, read from a provider's cache, and written to it."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Number of all tokens."""
        return self.input_tokens + self.output_tokens + self.cached_tokens + self.written_tokens

    def __add__(self, other: Usage) -> Usage:
        names = Usage.model_fields
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})


#: Rounds of a dialogue by the kind of its scenario. The paper has 4.74 and 5.64 (Table 2).
ROUNDS: Final = {"single": 5, "multi": 6}
#: Tokens of one message: a round has 150 in the paper, most of them the assistant's.
USER: Final = 40
ASSISTANT: Final = 110
#: Characters of English prose for each token. Tokenizers differ: o200k has about 5.3, and Claude's 4.6. The
#: smaller number is the safer one.
_CHARS: Final = 4.6
#: Tokens that a user agent with reasoning or a state writes beside its message. The number is an assumption.
_THOUGHTS: Final = 100
#: Purpose -> tokens of an answer; every other reading of a judge has the last.
_ANSWERS: Final = {"user agent": USER, "assistant": ASSISTANT, "judge tc": 100, "judge p": 400, "judge": 180}
#: Protocol -> purpose -> tokens of a prompt, without what was said and what an assistant may know, in a task
#: of one domain and of several. Measured on the embedded data; for "official" by the official code's own
#: arithmetic. In another suite than the first, a prompt holds little else than the item.
_PROMPTS: Final = {
    "default": {
        "user agent": (915, 1320),
        "assistant": (50, 50),
        "judge tc": (1500, 1510),
        "judge p": (1810, 2250),
        "judge": (1340, 1360),
    },
    "paper": {
        "user agent": (615, 1015),
        "assistant": (315, 315),
        "judge tc": (240, 260),
        "judge p": (810, 1220),
        "judge": (230, 255),
    },
    "official": {
        "user agent": (990, 1390),
        "assistant": (315, 315),
        "judge tc": (295, 315),
        "judge p": (2315, 2725),
        "judge": (220, 245),
    },
    "": {"user agent": (300, 300), "assistant": (0, 0), "judge": (700, 700)},
}


def tokens_in(texts: Iterable[str]) -> int:
    """Return about how many tokens some texts have."""
    return round(sum(map(len, texts)) / _CHARS)


def expected_call(
    purpose: str, reads: float, *, protocol: str = "default", kind: str = "single", thinks: bool = False
) -> Usage:
    """Return the usage of one call for a purpose, such as ``judge tc``, with nothing read from a cache.

    `reads` are the tokens of what was said and of what an assistant may know. `protocol` is empty in another
    suite than the first. `thinks` is true for a user agent that writes more than its message.
    """
    purpose = purpose.removeprefix("anchor ")
    role = "judge" if purpose.startswith("judge ") else purpose
    prompts = _PROMPTS[protocol]
    prompt = prompts.get(purpose, prompts[role])[kind == "multi"]
    answer = _ANSWERS.get(purpose, _ANSWERS[role]) + (_THOUGHTS if thinks else 0)
    return Usage(calls=1, input_tokens=round(prompt + reads), output_tokens=answer)
