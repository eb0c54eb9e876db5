"""The fourth suite: one question over a history, of our own or of a benchmark that a spec names."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from pytest_personalens.agents.embedded.reader.text import fold
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.facts import Clock
from pytest_personalens.core.judging.measure import Metric
from pytest_personalens.core.names import DATA_PREFIXES
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.core.suite import Control, Distance, Suite
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.embedded.packaged import packaged_file, packaged_head
from pytest_personalens.datasets.world.dates import MONTHS
from pytest_personalens.suites.questions import questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite import DataCheck, SettingsByName
    from pytest_personalens.suites.questions.questions import Kind


def open_own() -> tuple[str, list[questions.Row], Callable[[questions.Row, str], questions.Question]]:
    """Return the version, the rows, and the reader of our questions."""
    people = EmbeddedDataset()
    entries = map(from_json, packaged_file("questions.jsonl").read_bytes().splitlines())
    rows = [questions.Row(e["user"], e["task"], e["form"], (e["type"],), e, e["item"]) for e in entries]
    # A person's sessions of all domains, in order of date.
    past = cache(lambda user: tuple(sorted(people.past(user), key=lambda one: (one.date, one.id))))

    def read(row: questions.Row, dataset: str) -> questions.Question:
        said = past(row.user)
        entry: dict[str, Any] = row.place
        day = dt.date.fromisoformat(said[-1].date) + dt.timedelta(days=7)
        ways = _ways(entry)
        right = ways[0] if ways else "It was never said."
        asks, expected = (
            entry["asks"],
            questions.Expected(answer=right, ways=ways, wrong=tuple(entry.get("wrong", ()))),
        )
        if row.kind == "choice":
            asks, expected = questions.offer(
                asks, [entry["answer"][0], *entry["wrong"]], f"{row.user} {row.task}"
            )
        now = Clock(date=day.isoformat(), time="09:00")
        name = people.files.profile(row.user).name
        return row.question(
            dataset, name=name, asks=asks, sessions=said, now=now, expected=expected, shipped=True
        )

    version = f"{packaged_head()['questions']} of {people.name} {people.version}"
    return version, rows, read


def _ways(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of which any is the answer; those of a day name at least its month and year."""
    if "date" not in entry:
        return tuple(entry.get("answer", ()))
    year, month, day = entry["date"].split("-")
    name = MONTHS[int(month) - 1]
    return (entry["date"], f"{int(day)} {name}", f"{name} {int(day)}", f"{name} {year}", f"{name} of {year}")


#: The domains of our questions.
OWN_DOMAINS: Final = ("recall", "latest", "who", "when", questions.ABSTAIN)
#: Why a row gives no question -> its words.
REASONS: Final = {
    "needs-model": "only a model can judge this answer: give --personalens-judge-model SPEC",
    "no-history": "its history is not there",
    "no-wrong-answer": "it has one option only",
    "duplicate": "it is there twice",
    "names-answer": "the question names its answer",
}


class QuestionsDataset:
    """Questions of a file or folder; `read` returns the whole question of a row.

    With `by_value`, the judge looks for values, and what needs a model is left out. Raise `DataError` if no
    row gives a question.
    """

    def __init__(
        self,
        name: str,
        version: str,
        rows: Iterable[questions.Row],
        read: Callable[[questions.Row, str], questions.Question],
        *,
        by_value: bool,
    ) -> None:
        self.name, self.version, self._read = name, version, read
        self.loaded_ahead = 100  # a history may have megabytes, and the process holds what it has loaded
        self._rows: dict[tuple[str, str], questions.Row] = {}
        self._refs: dict[str, list[ScenarioRef]] = {}
        self.left_out: list[tuple[questions.Row, str]] = []
        for row in rows:
            reason = row.reason or ("needs-model" if by_value and row.needs_model else "")
            if reason:
                self.left_out.append((row, reason))
                continue
            self._rows[row.user, row.task] = row
            self._refs.setdefault(row.user, []).append(ScenarioRef(row.user, row.task, row.kind, row.domains))
        if not self._rows:
            reasons = Counter(reason for _, reason in self.left_out)
            why = "; ".join(f"{number:,}: {REASONS[reason]}" for reason, number in reasons.items())
            free = "; form=mcq needs no model" * ("needs-model" in reasons and "form=" in name)
            raise DataError(name, f"no question in it can be asked ({why or 'it is empty'}{free})")

    def domains(self) -> list[str]:
        return sorted({domain for row in self._rows.values() for domain in row.domains})

    def users(self) -> list[str]:
        return list(self._refs)

    def refs(self, user: str) -> list[ScenarioRef]:
        return self._refs[user]

    def load(self, ref: ScenarioRef) -> questions.Question:
        return self._read(self._rows[ref.user, ref.task], f"{self.name} {self.version}")

    def counts(self) -> dict[Kind, int]:
        """Return the number of questions by kind, also of kinds that are left out whole."""
        kinds = dict.fromkeys([row.kind for row, _ in self.left_out], 0)
        return kinds | dict(Counter(row.kind for row in self._rows.values()))


def open_questions(spec: str, base: Path, *, by_value: bool) -> QuestionsDataset:
    """Return the questions that a spec names: ``embedded``, or ``prefeval:DIR?distance=10`` and the like.

    Raise `DataError` for a bad file, and `SpecError` for a bad spec.
    """
    if spec == "embedded":
        return QuestionsDataset("questions", *open_own(), by_value=by_value)
    from pytest_personalens.suites.questions.benchmarks import open_benchmark

    name, opened = open_benchmark(spec, base)
    return QuestionsDataset(name, *opened, by_value=by_value)


_NONE: Final = "none"
_GIVEN: Final = {"H": "the history", _NONE: "no history"}


def _messages_since_said(question: questions.Question) -> int | None:
    """Return the messages since the answer was last said, of a question whose answer can be found."""
    said = [fold(m["content"]) for session in question.sessions for m in session.messages]
    options = (question.expected.answer,) if question.kind == "choice" else ()
    ways = [fold(way) for way in question.expected.ways or options]
    places = [number for number, text in enumerate(said) if any(way in text for way in ways)]
    return len(said) - 1 - places[-1] if places else None


def _distance_in(name: str) -> Callable[[questions.Question], int | None]:
    return lambda question: question.distance if question.dataset.startswith(name) else None


class Questions(Suite):
    """One question about a history of conversations, asked at its end."""

    name = "questions"
    item = "question"
    dialogue = "question"
    kinds = questions.KINDS
    domains = OWN_DOMAINS
    measures = questions.MEASURES
    main = questions.MEASURES
    metrics = tuple(Metric.mean(measure.value, measure) for measure in questions.MEASURES)
    gate_example = "answer >= 0.8 or latest: answer >= 0.7"
    lift = (questions.ANSWER, (_NONE,))
    controls = (Control(name=_NONE, word="no-history", title="no-history"),)
    control_groups: Mapping[str, tuple[str, ...]] = {"off": ()}
    own = "the history"
    without = "without the history"
    distances = (
        Distance("messages since it was last said", (10, 30, 100), _messages_since_said),
        Distance("sessions since it was last said", (5, 15, 30, 100), _distance_in("longmemeval")),
        Distance("exchanges since it was said", (), _distance_in("prefeval")),
        Distance("tokens since it was said", (4_000, 16_000, 64_000), _distance_in("personamem")),
    )
    thresholds: Mapping[Measure, float] = dict.fromkeys(questions.MEASURES, 1)
    free = (questions.CHOICE,)
    has_turns = False
    table_by_kind = True
    made_of = "row"
    words: Mapping[str, str] = REASONS
    scenario = questions.Question
    defaults: Mapping[str, Any] = {
        "context": "H",
        # A benchmark is answered to a half without its history, so the control is on unless it is put off.
        "control": (_NONE,),
    }
    lacks = (
        "user_model", "user_agent", "max_turns", "interactions", "history", "embedding", "nltk_data",
        "prompts", "official_bugs", "adopt_judge", "check_judge", "anchors",
        "slice", "manner", "dialogues", "generate_only", "criteria", "calibration",
    )  # fmt: skip
    protocols = ("default",)

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Any:
        return open_questions(spec, base, by_value=settings.judge_model == "embedded")

    def source(self, dataset: Any) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        counts = getattr(dataset, "counts", None)  # a dataset of a plugin has none
        if counts is None:
            return {}, {}
        excluded: dict[str, dict[str, int]] = {kind: {} for kind in counts()}
        for row, reason in dataset.left_out:
            excluded[row.kind][reason] = excluded[row.kind].get(reason, 0) + 1
        return counts(), excluded

    def left_out(self, dataset: Any) -> Iterator[str]:
        for row, reason in getattr(dataset, "left_out", ()):
            yield f"  left out, {row.item}: {REASONS[reason]}"

    def check_data(self, spec: str, words: int) -> DataCheck | None:
        """Return the counts of questions, and the fault of each that cannot be read."""
        from pytest_personalens.core.suite import DataCheck, Finding

        if spec != "questions" and DATA_PREFIXES.get(spec.partition(":")[0]) != "questions":
            return None
        dataset = open_questions("embedded" if spec == "questions" else spec, Path(), by_value=False)
        findings = []
        refs = [ref for user in dataset.users() for ref in dataset.refs(user)]
        for ref in refs:
            try:
                dataset.load(ref)
            except DataError as error:
                findings.append(Finding("question", error.file, error.field, error.problem))
        types = Counter(domain for ref in refs for domain in ref.domains)
        kinds = {str(kind): count for kind, count in dataset.counts().items()}
        counts = {"questions": len(refs), **kinds, **dict(sorted(types.items()))}
        reasons = Counter(reason for _, reason in dataset.left_out)
        name = f"{dataset.name} {dataset.version}"
        return DataCheck(
            dataset=name,
            rows=[(label, f"{count:,}", "") for label, count in counts.items()],
            summary=[f"left out, {REASONS[reason]}: {count:,}" for reason, count in reasons.items()],
            every=list(self.left_out(dataset)),
            findings=findings,
            rules=1,
            report={
                "dataset": name,
                **counts,
                "left_out": dict(reasons),
                "findings": [asdict(f) for f in findings],
            },
        )

    def asker(self, settings: Settings) -> UserAgent:
        return questions.Asker()

    def scorer(self, settings: Settings, root: str) -> Judge:
        return questions.EmbeddedJudge()

    def judged(self, model: Any, meter: Any, temperature: float) -> Judge:
        from pytest_personalens.suites.questions.judge_by_model import QuestionsModelJudge

        return QuestionsModelJudge(model, meter, temperature=temperature)

    def read_context(self, text: str) -> str:
        given = {"h": "H", _NONE: _NONE}.get(text.strip().lower())
        if given is None:
            raise ValueError("expected H (the history) or none")
        return given

    def check(self, settings: Settings) -> None:
        if settings.control and settings.context == _NONE:
            raise SpecError(
                "--personalens-control no-history: the run itself has no history (personalens_context ="
                " none), so there is nothing to compare; add --personalens-control off",
                code="PL108",
            )

    def about(self, settings: Settings) -> str:
        return f"given {_GIVEN[settings.context]}, judge {settings.judge_model}"

    def facts(self, settings: SettingsByName) -> dict[str, str]:
        return {name: str(settings.get(name, "-")) for name in ("context", "judge_model")}

    def given_words(self, settings: SettingsByName, given: str) -> str:
        return _GIVEN.get(given, "")

    def outcome(self, item: Any) -> str:
        answer = item.evaluation.answer
        if answer is None or not answer.read:
            return "" if answer is None else "not read"
        return "right" if all(verdict.score for verdict in item.evaluation.verdicts) else "wrong"


SUITE: Final = Questions()
