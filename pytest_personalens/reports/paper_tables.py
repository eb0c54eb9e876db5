"""Tables of the paper: what it prints, and its tables of scores, datasets and agreement with ours."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.reports.content.markup import Table, figure
from pytest_personalens.results.means import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.datasets.quality import Quality
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


def paper_notes(table: int) -> list[str]:
    """Return where the paper contradicts itself about a table, in sentences."""
    return list(_tables()[f"table_{table}"]["notes"])


@cache
def _tables() -> Mapping[str, Any]:
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
    def is_rate(self) -> bool:
        """True for a column that is printed in percent."""
        return self.dimension is Dimension.TASK_COMPLETION

    @property
    def heading(self) -> str:
        """``SD TCR %``. The title of the table says if a reading is of the user or of the assistant."""
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        return f"{SHORT[self.kind]} {heading}{' %' if self.is_rate else ''}"

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
    return Table(title, header, tuple(rows), (note, *paper_notes(1)))


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


_NOTES: Final = (
    "Mean of annotators: as in the paper, of Cohen's kappas of the judge with each, over what each labelled.",
    "Among them: Fleiss' kappa.",
    "The paper's figures are of Claude 3.5 Sonnet and three people over 100 dialogues of its own.",
)


def agreement_table(readings: Iterable[tuple[str, float | None, float | None, float | None]]) -> Table:
    """Return Table 5 for readings by their short names.

    Each has the mean of the kappas with each annotator, which the paper gives; the kappa with the majority,
    which is higher, because the majority outvotes errors of single annotators; and Fleiss' kappa.
    """
    paper = paper_rows(5)
    header = ("", "mean of annotators", "majority", "among them", "paper: mean of 3", "paper: among them")
    rows = []
    for name, *kappas in readings:
        own = ["-" if kappa is None else f"{kappa:.3f}" for kappa in kappas]
        rows.append((name, *own, *paper.get(name, {"judge": "-", "people": "-"}).values()))
    return Table(paper_title("Table 5", "how far the judge agrees with people"), header, tuple(rows), _NOTES)


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
    return [_scores(runs, _own_rows(runs, _OF_ASSISTANT), 3, "assistants beside each other", note)]


def user_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 12: naturalness and coherence of the user agent, with a row for each run.

    The paper has these scores only for single-domain tasks.
    """
    note = "Nat and Coh, of the user agent, from 1 to 5; the paper has them for SD tasks."
    rows = _own_rows(runs, _OF_USER)
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


def _own_rows(runs: Sequence[StoredRun], columns: Sequence[Column]) -> list[tuple[str, ...]]:
    return [means_row(run.name, run.results.own, columns) for run in runs]


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
    notes = (*notes_of(runs), note, PAPER_NOTE, *paper_notes(number))
    return Table(paper_title(f"Table {number}", what), header, (*rows, *paper), notes)
