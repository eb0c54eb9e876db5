"""Every name of every dimension: in options, sentences, and the columns of the terminal and of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class DimensionNames(NamedTuple):
    """The names of one dimension.

    `short` stands in options, `title` where there is room, `mean_of` in a gate's sentence. `score` and `mean`
    name one score and a mean over scenarios. `heading` is that of a mean's column in a table of text,
    `paper_heading` the same in the shape of the paper's Table 3, which says of the user's dimensions alone
    whose they are.
    """

    short: str
    title: str
    mean_of: str
    score: str
    mean: str
    heading: str
    paper_heading: str


#: Long name of a dimension -> its other names, in the benchmark's order.
NAMES: Final[Mapping[str, DimensionNames]] = {
    "task_completion": DimensionNames(
        "tc", "Task completion", "task completion rate", "TC", "TCR", "TCR", "TCR",
    ),
    "personalization": DimensionNames(
        "p", "Personalization", "mean personalization", "P", "P", "P", "P",
    ),
    "naturalness_user": DimensionNames(
        "nat-user", "Naturalness of the user", "mean naturalness of the user",
        "Nat. user", "Nat. user", "Nat.u", "Nat.u",
    ),
    "naturalness_assistant": DimensionNames(
        "nat-assistant", "Naturalness of the assistant", "mean naturalness of the assistant",
        "Nat. asst.", "Nat. asst.", "Nat.a", "Nat",
    ),
    "coherence_user": DimensionNames(
        "coh-user", "Coherence of the user", "mean coherence of the user",
        "Coh. user", "Coh. user", "Coh.u", "Coh.u",
    ),
    "coherence_assistant": DimensionNames(
        "coh-assistant", "Coherence of the assistant", "mean coherence of the assistant",
        "Coh. asst.", "Coh. asst.", "Coh.a", "Coh",
    ),
    "personalization_turns": DimensionNames(
        "p-turns", "Personalization by turn", "mean personalization after the last turn",
        "P last", "P last", "P.last", "P.last",
    ),
    "opening_leak": DimensionNames(
        "leak", "Leak in the opening", "share of leaks in the opening", "Leak", "Leak", "Leak", "Leak",
    ),
    "unbacked": DimensionNames(
        "unbacked", "Claims without a call", "share of dialogues with a claim that no call stands behind",
        "Unbacked", "Unbacked", "Unb.", "Unb.",
    ),
}  # fmt: skip
