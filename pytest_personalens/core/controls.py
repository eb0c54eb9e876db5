"""The controls of a run: their names in items and results, and their words on the surface."""

from typing import Final, Literal

#: A name of a run's arms: the run itself, or the same scenarios with the context withheld, in part or whole,
#: or another user's.
ControlName = Literal["", "none", "D", "I", "S", "swapped"]
#: The controls of the ablation beside D+I+S (paper, Table 4).
ABLATION: Final[tuple[ControlName, ...]] = ("none", "D", "I", "S")
#: Every control, in the order of items and of tables.
CONTROLS: Final[tuple[ControlName, ...]] = (*ABLATION, "swapped")
#: The words for controls on the command line and in every report.
CONTROL_WORDS: Final[dict[str, tuple[ControlName, ...]]] = {
    "no-context": ("none",), "other-user": ("swapped",), "D": ("D",), "I": ("I",), "S": ("S",),
    "ablation": ABLATION,
}  # fmt: skip
#: A value that is gone -> the word for it now.
REPLACED_CONTROLS: Final = {"none": "no-context", "swapped": "other-user"}


def control_word(control: str) -> str:
    """The word for a control, such as ``no-context`` for "none"."""
    return next((word for word, controls in CONTROL_WORDS.items() if controls == (control,)), control)
