"""The length and the diversity of a run's dialogues: Tables 13 and 10."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.quality import diversity
from pytest_personalens.reports.tables.means import SHORT
from pytest_personalens.reports.tables.table import PAPER, PaperTable, paper_notes, paper_rows, paper_title

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.reports.tables.runs import StoredRun

#: The highest number of words of each row of Table 10 that are compared.
MOST_WORDS: Final = 50_000
_TOKEN: Final = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


def length_tables(runs: Sequence[StoredRun]) -> list[PaperTable]:
    """Return Table 13: dialogues, turns for each dialogue and tokens for each turn, by kind."""
    heads = {"dialogues": "dialogues", "turns": "turns a dialogue", "tokens": "tokens a turn"}
    columns = {f"{s.lower()}_{what}": f"{s} {head}" for s in SHORT.values() for what, head in heads.items()}
    rows = [
        (run.name, *(cell for kind in SHORT for cell in _lengths(list(_dialogues(run, kind).values()))))
        for run in runs
    ]
    rows += [(f"{PAPER}{name}", *(row[column] for column in columns)) for name, row in paper_rows(13).items()]
    notes = (
        "Dialogues that were scored. A turn is a message of the user and the reply to it.",
        "Tokens are words and punctuation marks; which tokens the paper counts it does not say.",
        *paper_notes(13),
    )
    title = paper_title("Table 13", "how long the dialogues are")
    return [PaperTable(title, ("", *columns.values()), tuple(rows), notes)]


def _lengths(dialogues: Sequence[Dialogue]) -> tuple[str, str, str]:
    turns = sum(dialogue.user_turns for dialogue in dialogues)
    if not turns:
        return ("0", "-", "-")
    tokens = sum(
        len(_TOKEN.findall(message.content)) for dialogue in dialogues for message in dialogue.messages
    )
    return (f"{len(dialogues):,}", f"{turns / len(dialogues):.2f}", f"{tokens / turns:.2f}")


def diversity_tables(runs: Sequence[StoredRun]) -> list[PaperTable]:
    """Return Table 10: Dist-1, Dist-2, Ent-4 and Self-BLEU of the dialogues, as the paper defines them in A.4.

    The measures depend on the amount of text. Every row is therefore computed over the same number of words:
    that of the shortest row, and at most 50,000.
    """
    texts = {
        f"{run.name} {short}" if len(runs) > 1 else f"this run {short}": of_run
        for run in runs
        for kind, short in SHORT.items()
        if (of_run := _texts(_dialogues(run, kind)))
    }
    words = [sum(len(diversity.words_in(text)) for text in of_run.values()) for of_run in texts.values()]
    limit = min([MOST_WORDS, *words])
    rows = [(name, f"{len(of_run):,}", *_measures(of_run, limit)) for name, of_run in texts.items()]
    rows += [(f"{PAPER}{name}", *row.values()) for name, row in paper_rows(10).items()]
    notes = (
        f"Rows of runs: over {limit:,} words each, all messages of a dialogue one text. Higher is more diverse,"
        " but for Self-BLEU.",
        "The paper does not say over how much text its rows are, and all four measures depend on it: compare"
        " rows of runs.",
    )
    header = ("", "dialogues", "Dist-1", "Dist-2", "Ent-4", "Self-BLEU")
    return [PaperTable(paper_title("Table 10", "how diverse the dialogues are"), header, tuple(rows), notes)]


def _measures(texts: Mapping[str, str], limit: int) -> tuple[str, ...]:
    sample = diversity.within_words(texts, limit)
    distinct = [diversity.distinct(sample, n) for n in (1, 2)]
    values = (*distinct, diversity.entropy(sample, 4), diversity.self_bleu(sample))
    return tuple(f"{value:.3f}" for value in values)


def _texts(dialogues: Mapping[str, Dialogue]) -> dict[str, str]:
    return {nodeid: "\n".join(m.content for m in dialogue.messages) for nodeid, dialogue in dialogues.items()}


def _dialogues(run: StoredRun, kind: Kind) -> dict[str, Dialogue]:
    return {
        item.nodeid: item.evaluation.dialogue
        for item in run.results.own
        if item.evaluation.scored and item.evaluation.kind == kind
    }
