"""The tables of the paper, with what it prints beside our scores, our datasets and our dialogues."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.datasets.quality import measures
from pytest_personalens.reports.content.markup import Table, figure
from pytest_personalens.results.means import by_turn, estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.datasets.quality.measures import Quality
    from pytest_personalens.results.means import Estimate
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: The beginning of the names of the paper's rows.
PAPER: Final = "paper: "


def paper_title(number: str, what: str) -> str:
    """Return the title of a table that follows one of the paper's, such as "Table 3" or "Figure 4"."""
    return f"{number} of the paper (Zhao et al., 2025): {what}"


def paper_rows(table: int) -> dict[str, dict[str, str]]:
    """Return the rows of one of the paper's tables: name -> column -> the figure as it is printed there.

    `table` is 1, 3, 4, 5, 10, 12 or 13.
    """
    entry = _tables()[f"table_{table}"]
    places = entry.get("places", 2)
    return {
        name: {
            column: f"{value:,}" if isinstance(value, int) else f"{value:.{places}f}"
            for column, value in zip(entry["columns"], values, strict=True)
        }
        for name, *values in entry["rows"]
    }


@cache
def _tables() -> Mapping[str, Any]:
    """What the paper prints; the notes of a table say where the paper contradicts itself about it."""
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


SHORT: Final[dict[Kind, str]] = {"single": "SD", "multi": "MD"}
#: docs/explanation/protocol.md says which runs compare with the paper's.
PAPER_NOTE: Final = (
    "The paper's rows are of 50 official users (3,283 SD and 813 MD scenarios), the official prompts, and"
    " models of 2024; see docs/explanation/protocol.md."
)


class Column(NamedTuple):
    """The mean of a dimension over the items of a kind. `key` is its name in files."""

    key: str
    kind: Kind
    dimension: Dimension

    @property
    def heading(self) -> str:
        """``SD TCR %``. The title of the table says if a reading is of the user or of the assistant."""
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        in_percent = self.dimension is Dimension.TASK_COMPLETION
        return f"{SHORT[self.kind]} {heading}{' %' if in_percent else ''}"

    def mean(self, items: Sequence[Item]) -> float | None:
        """Return the mean over the items of the column's kind."""
        return mean_of([item for item in items if item.evaluation.kind == self.kind], self.dimension)


def columns_of(scores: Mapping[str, Dimension]) -> list[Column]:
    return [
        Column(f"{short.lower()}_{key}", kind, dimension)
        for kind, short in SHORT.items()
        for key, dimension in scores.items()
    ]


def mean_of(items: Sequence[Item], dimension: Dimension) -> float | None:
    """Return the mean of `items` by scenario, in percent for a rate; None if no item has a score."""
    mean = estimate(items, dimension, ends=False).figure("high").value
    return mean if mean is None or dimension is not Dimension.TASK_COMPLETION else 100 * mean


def means_row(name: str, items: Sequence[Item], columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the name, and each mean with two decimals as in the paper."""
    return (name, *(figure(column.mean(items)) for column in columns))


class StoredRun(NamedTuple):
    """The results of a run, and its name in a table."""

    name: str
    results: Results

    def scenarios(self, kind: Kind) -> int:
        """Return how many scenarios of a kind were scored."""
        own = self.results.own
        return len({i.scenario_key for i in own if i.evaluation.scored and i.evaluation.kind == kind})


def stored_runs(read: Sequence[tuple[Path, Results]]) -> list[StoredRun]:
    """Return each run with the name of its assistant.

    The name includes the file if several runs have the same assistant. A single run is "this run" if its
    assistant is yours.
    """
    if len(read) == 1:
        return [StoredRun(_assistant(read[0][1]) or "this run", read[0][1])]
    assistants = Counter(_assistant(results) for _, results in read)
    stems = Counter(path.stem for path, _ in read)
    runs = []
    for path, results in read:
        file, assistant = path.stem if stems[path.stem] == 1 else str(path), _assistant(results)
        name = file if not assistant else assistant if assistants[assistant] == 1 else f"{assistant} ({file})"
        runs.append(StoredRun(name, results))
    return runs


def _assistant(results: Results) -> str:
    return str(results.settings.get("assistant") or "")


def notes_of(runs: Sequence[StoredRun]) -> list[str]:
    """Return what each run was made of, how many scenarios it scored, and on each reading where the judge did
    not give all.
    """
    notes = [_setup(run) for run in runs]
    notes += [
        f"{run.name}: {run.scenarios('single'):,} single-domain (SD) and {run.scenarios('multi'):,}"
        " multi-domain (MD) scenarios scored."
        for run in runs
    ]
    notes += [
        f"{run.name}: the judge did not give every reading; each is missing from its own mean only. Scenarios"
        f" with a score: {'; '.join(_by_reading(run))}."
        for run in runs
        if any(item.evaluation.unread for item in run.results.own)
    ]
    return notes


def _setup(run: StoredRun) -> str:
    s = run.results.settings
    prompts, protocol = s.get("prompts"), s.get("protocol") or "default"
    words = f"prompts {prompts}" if prompts else f"protocol {protocol}"
    context = "+".join(str(s.get("context") or "")) or "nothing"
    return (
        f"{run.name}: dataset {run.results.dataset}, user agent {s.get('user_model')}, judge"
        f" {s.get('judge_model')}, {words}, the assistant was told {context}."
    )


def _by_reading(run: StoredRun) -> Iterator[str]:
    for kind, short in SHORT.items():
        items = [i for i in run.results.own if i.evaluation.kind == kind]
        counts = {
            m.short: len({i.scenario_key for i in items if i.evaluation.score(m) is not None})
            for m in run.results.of_suite.measures
        }
        if any(counts.values()):
            yield f"{short} {', '.join(f'{name} {number:,}' for name, number in counts.items() if number)}"


#: The domains of Table 8. Table 9 has all others.
_FIRST_DOMAINS: Final = DOMAINS[:10]
_COUNTED: Final = "# Gen. counts at most # Poss. values, as the paper does; observed counts all."


def data_table(number: int, data: Quality) -> Table:
    """Return one of the tables 1, 6, 7, 8 and 9. Tables 6 and 7 come as one."""
    if number == 1:
        return _domains(data)
    return _people(data) if number in (6, 7) else _types(number, data)


def _domains(data: Quality) -> Table:
    """Return Table 1. A multi-domain task or dialogue counts in each of its domains."""
    paper, none = paper_rows(1), {"tasks": "-", "dialogues": "-"}
    rows = []
    for d in data.domains:
        theirs = paper.get(d.domain, none)
        tasks, dialogues = f"{d.single_tasks + d.multi_tasks:,}", f"{d.scenarios:,}"
        rows.append((d.domain, tasks, theirs["tasks"], dialogues, theirs["dialogues"]))
    note = (
        f"Over {data.users:,} users; the paper has 1,500. A multi-domain task counts in each of its domains."
    )
    title = paper_title("Table 1", f"the domains of {data.dataset}")
    header = ("domain", "tasks", "paper", "dialogues", "paper")
    return Table(title, header, tuple(rows), (note, *_tables()["table_1"]["notes"]))


def _people(data: Quality) -> Table:
    rows = [
        (
            f"{s.attribute.replace('_', ' ')}: {s.category}",
            f"{round(s.share * data.users):,}",
            f"{s.share:.1%}",
            "-" if s.paper is None else f"{s.paper:.1%}",
        )
        for s in data.demographics
        if s.share or s.paper
    ]
    title = paper_title("Tables 6 and 7", f"the people of {data.dataset}")
    note = "Regions are those of birth. For ethnicity, the figures of the paper are not in this package."
    return Table(title, ("", "users", "share", "paper"), tuple(rows), (note,))


def _types(number: int, data: Quality) -> Table:
    """Return Table 8 or 9.

    For each preference type, they give whether its values come from a list, how many values are possible, how
    many occur, and Shannon evenness (paper, Eq. 1). As in the paper, they cover all profiles with any domains
    of interest, and count values by their spelling. For values from a list, "# Gen." in the paper is never
    more than "# Poss."; "observed" counts every value that occurs, also one that is not on the list.
    """
    rows = [
        (
            f"{t.domain}: {t.name}",
            "yes" if t.categorical else "no",
            "-" if t.possible is None else f"{t.possible:,}",
            f"{min(t.distinct, t.possible or t.distinct) if t.categorical else t.distinct:,}",
            f"{t.distinct:,}",
            f"{t.evenness:.2f}",
        )
        for t in data.types
        if (t.domain in _FIRST_DOMAINS) == (number == 8)
    ]
    notes = [
        f"Over all {data.users:,} profiles. {_COUNTED}",
        f"Table {17 - number} has the other domains (--table {17 - number}).",
    ]
    if all(t.possible is None for t in data.types):
        unread = ((f.file, f.field, f.message) for f in data.findings if f.file.endswith("schema.json"))
        why = next(unread, ("there is no res/schema.json beside the data",))
        notes.append(f"# Poss. is not known: {': '.join(filter(None, why))}.")
    header = ("domain: preference type", "Is Categorical", "# Poss.", "# Gen.", "observed", "evenness")
    title = paper_title(f"Table {number}", f"the preference types of {data.dataset}")
    return Table(title, header, tuple(rows), tuple(notes))


_OF_ASSISTANT: Final = columns_of(
    {
        "tcr": Dimension.TASK_COMPLETION,
        "p": Dimension.PERSONALIZATION,
        "nat": Dimension.NATURALNESS_ASSISTANT,
        "coh": Dimension.COHERENCE_ASSISTANT,
    }
)
_OF_USER: Final = columns_of({"nat": Dimension.NATURALNESS_USER, "coh": Dimension.COHERENCE_USER})
#: Of Table 4: task completion and personalization alone.
_OF_CONTEXT: Final = [column for column in _OF_ASSISTANT if column.key.endswith(("tcr", "_p"))]


def assistant_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 3: a row for each run, and the paper's rows.

    The columns are the task completion rate in percent, mean personalization, and the assistant's
    naturalness and coherence, for single-domain (SD) and multi-domain (MD) tasks.
    """
    note = "TCR in percent, P from 1 to 4; Nat and Coh, of the assistant, from 1 to 5."
    return [
        _scores(
            runs,
            [means_row(run.name, run.results.own, _OF_ASSISTANT) for run in runs],
            3,
            "assistants beside each other",
            note,
        )
    ]


def user_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 12: naturalness and coherence of the user agent, with a row for each run.

    The paper has these scores only for single-domain tasks.
    """
    note = "Nat and Coh, of the user agent, from 1 to 5; the paper has them for SD tasks."
    rows = [means_row(run.name, run.results.own, _OF_USER) for run in runs]
    return [_scores(runs, rows, 12, "the user agent, by assistant", note, columns=_OF_USER)]


def context_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 4: a row for what the assistant knew in each run and in each of its controls.

    Base knew nothing of its user. With the prompt "vanilla", a model was told nothing at all.
    """
    rows = []
    for run in runs:
        s, own = run.results.settings, str(run.results.settings.get("context", ""))
        vanilla = bool(s.get("assistant")) and s.get("assistant_prompt") == "vanilla"
        for control in dict.fromkeys(("", *(item.control for item in run.results.items))):
            letters = {"": "" if vanilla else own, "swapped": own, "none": ""}.get(control, control)
            name = "Base + all" if letters == "DIS" else " + ".join(["Base", *letters])
            name = "Another user's" if control == "swapped" else name
            name = "Vanilla" if vanilla and not letters else name
            place = (name != "Vanilla", control == "swapped", len(letters), letters)
            items = [item for item in run.results.items if item.control == control]
            label = f"{name} ({run.name})" if len(runs) > 1 else name
            rows.append((place, means_row(label, items, _OF_CONTEXT)))
    note = "D: demographics, I: past interactions, S: situation. TCR in percent, P from 1 to 4."
    ordered = [cells for _, cells in sorted(rows)]
    what = "what each part of the context is worth"
    return [_scores(runs, ordered, 4, what, note, columns=_OF_CONTEXT)]


def _scores(
    runs: Sequence[StoredRun],
    rows: Sequence[tuple[str, ...]],
    number: int,
    what: str,
    note: str,
    *,
    columns: Sequence[Column] = tuple(_OF_ASSISTANT),
) -> Table:
    """The rows above those of the paper."""
    paper = [
        (f"{PAPER}{name}", *(row.get(c.key, "-") for c in columns))
        for name, row in paper_rows(number).items()
    ]
    header = ("", *(column.heading for column in columns))
    notes = (*notes_of(runs), note, PAPER_NOTE, *_tables()[f"table_{number}"]["notes"])
    return Table(paper_title(f"Table {number}", what), header, (*rows, *paper), notes)


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
        *_tables()["table_13"]["notes"],
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
        if (of_run := {k: "\n".join(m.content for m in d.messages) for k, d in _dialogues(run, kind).items()})
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
