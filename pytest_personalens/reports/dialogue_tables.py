"""What a run's dialogues are like: Tables 13 and 10, and Figures 4 and 5 as tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets.quality import measures
from pytest_personalens.reports.content.markup import Table, figure
from pytest_personalens.reports.paper_tables import (
    PAPER,
    SHORT,
    mean_of,
    notes_of,
    paper_notes,
    paper_rows,
    paper_title,
)
from pytest_personalens.results.means import by_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.reports.paper_tables import StoredRun
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.item import Item

#: The highest number of words of each row of Table 10 that are compared.
MOST_WORDS: Final = 50_000
_AMOUNT: Final = (
    "The paper does not say over how much text its rows are, and all four measures depend on it: compare rows"
    " of runs."
)
_TOKEN: Final = re.compile(r"\w+(?:['\u2019]\w+)*|[^\w\s]")


def length_tables(runs: Sequence[StoredRun]) -> list[Table]:
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
    return [Table(title, ("", *columns.values()), tuple(rows), notes)]


def _lengths(dialogues: Sequence[Dialogue]) -> tuple[str, str, str]:
    turns = sum(dialogue.user_turns for dialogue in dialogues)
    if not turns:
        return ("0", "-", "-")
    tokens = sum(
        len(_TOKEN.findall(message.content)) for dialogue in dialogues for message in dialogue.messages
    )
    return (f"{len(dialogues):,}", f"{turns / len(dialogues):.2f}", f"{tokens / turns:.2f}")


def diversity_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 10: Dist-1, Dist-2, Ent-4 and Self-BLEU of the dialogues, as in the paper's A.4.

    The measures depend on the amount of text. Every row is therefore computed over the same number of words:
    that of the shortest row, and at most 50,000.
    """
    texts = {
        f"{run.name} {short}" if len(runs) > 1 else f"this run {short}": of_run
        for run in runs
        for kind, short in SHORT.items()
        if (of_run := _texts(_dialogues(run, kind)))
    }
    words = [sum(len(measures.words_in(text)) for text in of_run.values()) for of_run in texts.values()]
    limit = min([MOST_WORDS, *words])
    rows = [(name, f"{len(of_run):,}", *_measures(of_run, limit)) for name, of_run in texts.items()]
    rows += [(f"{PAPER}{name}", *row.values()) for name, row in paper_rows(10).items()]
    each = "all messages of a dialogue one text. Higher is more diverse, but for Self-BLEU."
    notes = (f"Rows of runs: over {limit:,} words each, {each}", _AMOUNT)
    header = ("", "dialogues", "Dist-1", "Dist-2", "Ent-4", "Self-BLEU")
    return [Table(paper_title("Table 10", "how diverse the dialogues are"), header, tuple(rows), notes)]


def _measures(texts: Mapping[str, str], limit: int) -> tuple[str, ...]:
    sample = measures.within_words(texts, limit)
    distinct = [measures.distinct(sample, n) for n in (1, 2)]
    values = (*distinct, measures.entropy(sample, 4), measures.self_bleu(sample))
    return tuple(f"{value:.3f}" for value in values)


def _texts(dialogues: Mapping[str, Dialogue]) -> dict[str, str]:
    return {nodeid: "\n".join(m.content for m in dialogue.messages) for nodeid, dialogue in dialogues.items()}


def _dialogues(run: StoredRun, kind: Kind) -> dict[str, Dialogue]:
    return {
        item.nodeid: item.evaluation.dialogue
        for item in run.results.own
        if item.evaluation.scored and item.evaluation.kind == kind
    }


Kinds = Literal["single", "multi", "all"]
_SAID: Final[dict[Kinds, str]] = {
    "single": "single-domain tasks only, as the official gathering has them",
    "multi": "multi-domain tasks only, each in all of its domains",
    "all": "single- and multi-domain tasks, each in all of its domains",
}
_ALL: Final = "all domains"
_BY_DOMAIN: Final = {"TCR %": Dimension.TASK_COMPLETION, "P": Dimension.PERSONALIZATION}
#: The highest number of turns that are shown. Few dialogues are longer, and a line of a terminal has no more
#: room.
_MOST_TURNS: Final = 10


def domain_tables(runs: Sequence[StoredRun], kinds: Kinds) -> list[Table]:
    """Return Figure 4: scenarios, task completion rate and personalization by domain, a row for each run."""
    several = len(runs) > 1
    domains = sorted({d for run in runs for item in run.results.own for d in item.evaluation.domains})
    rows = [
        (
            f"{domain or _ALL}, {run.name}" if several else domain or _ALL,
            *_of_items([i for i in run.results.own if not domain or domain in i.evaluation.domains], kinds),
        )
        for domain in (*domains, "")
        for run in runs
    ]
    notes = (
        *notes_of(runs),
        f"{_ALL.capitalize()}: the mean over all scenarios, each counted once (the dashed line).",
        "TCR in percent, P from 1 to 4. The paper draws Figure 4 and prints no figures of it.",
    )
    title = paper_title("Figure 4", f"by domain, {_SAID[kinds]}")
    shown = tuple(row for row in rows if row[1] != "0")
    return [Table(title, ("domain", "scenarios", *_BY_DOMAIN), shown, notes)]


def _of_items(items: Sequence[Item], kinds: Kinds) -> Iterator[str]:
    """Yield the number of scenarios, and each mean, with its own number if a reading is missing."""
    among = [i for i in items if _among(i, kinds)]
    scenarios = len({i.scenario_key for i in among if i.evaluation.scored})
    yield f"{scenarios:,}"
    for dimension in _BY_DOMAIN.values():
        read = len({i.scenario_key for i in among if i.evaluation.score(dimension) is not None})
        yield figure(mean_of(among, dimension)) + (f" ({read:,})" if 0 < read < scenarios else "")


def turn_tables(runs: Sequence[StoredRun], kinds: Kinds) -> list[Table]:
    """Return Figure 5 for each run: mean personalization after each reply, by kind and domain.

    The reply after the user's end is left out, because it answers a goodbye. The figure needs the reading
    `p-turns`.
    """
    return [_turns(run, kinds, f", {run.name}" if len(runs) > 1 else "") for run in runs]


def _turns(run: StoredRun, kinds: Kinds, name: str) -> Table:
    items = [item for item in run.results.own if _among(item, kinds)]
    rows: dict[str, list[Estimate]] = {}
    for kind, short in SHORT.items():
        of_kind = [item for item in items if item.evaluation.kind == kind]
        rows[f"{short}, all domains"] = by_turn(of_kind, ends=False)
        for d in sorted({d for item in of_kind for d in item.evaluation.domains}):
            rows[f"{short}, {d}"] = by_turn([i for i in of_kind if d in i.evaluation.domains], ends=False)
    longest = max(map(len, rows.values()))
    shown = min(longest, _MOST_TURNS)
    notes = [
        "In brackets: dialogues. P from 1 to 4. The reply after the user's end is left out.",
        "The paper draws Figure 5 and prints no figures of it.",
    ]
    if longest > shown:
        notes.append(f"Turns after the {shown}th are not shown; the longest dialogue has {longest}.")
    if not longest:
        notes = ["Nothing was read turn by turn: run with --personalens-dimensions tc,p,p-turns."]
    cells = [
        (title, *(f"{e.value:.2f} ({e.dialogues})" for e in turns[:shown]), *[""] * (shown - len(turns)))
        for title, turns in rows.items()
        if turns
    ]
    header = ("", *(f"turn {number}" for number in range(1, shown + 1)))
    what = f"personalization turn by turn{name}"
    return Table(paper_title("Figure 5", what), header, tuple(cells), tuple(notes))


def _among(item: Item, kinds: Kinds) -> bool:
    return kinds in ("all", item.evaluation.kind)
