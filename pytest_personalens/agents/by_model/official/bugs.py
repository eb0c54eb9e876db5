"""The bugs of the official code in prompts and answers, by name.

Each bug is reproduced, or mended on request.
"""

from __future__ import annotations

from typing import Final

from pytest_personalens.core.errors import SpecError

#: For each name, the behaviour of the official code and the mended behaviour (GD, GM, EV, GA, AP:
#: generate_dialogue, generate_dialogue_md, evaluate_dialogue, gather_evaluation, assistant_prompts).
BUGS: Final = {
    "user-id": "the judge of P is told the user's id (EV); mended: it is not",
    "base-instruction": (
        "the base prompt for Claude has an empty instruction (AP); mended: that of the other contexts"
    ),
    "pairs": (
        "two parts of the context at once crash (GD, GM); mended: the prompt for all three, without the third"
    ),
    "verdict": (
        "an answer without 'VERDICT: True' or 'False' is a task that failed (GA); mended: asked once more,"
        " then not scored"
    ),
    "score": (
        "a score is the first digits after its name, so 3.5 is 3 and '**Score:** 3' is none (GA); mended: a"
        " whole score on the scale"
    ),
    "empty-message": (
        "a user who says TERMINATE alone leaves an empty message, which is answered (GD, GM); mended: it ends"
        " there"
    ),
    "opening-signal": "TERMINATE in the opening stays in the transcript (GD, GM); mended: it is taken out",
    "forged-lines": (
        "a line of a message can pass for another turn (GD, GM, EV); mended: further lines are indented"
    ),
}


def mended_bugs(text: str) -> frozenset[str]:
    """Return the bugs to mend.

    These are none for "reproduce", all for "mend", and otherwise the named ones, separated by commas. Raise
    `SpecError` for an unknown name.
    """
    if text.strip() in ("reproduce", "mend"):
        return frozenset(BUGS if text.strip() == "mend" else ())
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in BUGS), None)
    if unknown is not None or not names:
        raise SpecError(
            f"personalens_official_bugs: expected reproduce, mend, or the bugs to mend ({', '.join(BUGS)}),"
            f" not {unknown or text!r}"
        )
    return frozenset(names)
