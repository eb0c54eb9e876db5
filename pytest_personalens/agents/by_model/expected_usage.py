"""What a call of a model is expected to take, before it is made: tokens by a table, and by the texts it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

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
