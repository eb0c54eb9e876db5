"""The fourth suite: one question over a history of conversations."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.embedded.reader.text import fold
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.judging.measure import Metric
from pytest_personalens.core.names import DATA_PREFIXES
from pytest_personalens.core.suite import Control, Distance, Suite
from pytest_personalens.suites.questions.data import OWN_DOMAINS, REASONS, open_questions
from pytest_personalens.suites.questions.embedded_judge import Asker, EmbeddedJudge
from pytest_personalens.suites.questions.questions import ANSWER, CHOICE, KINDS, MEASURES, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.suite import DataCheck, SettingsByName

_NONE: Final = "none"
_GIVEN: Final = {"H": "the history", _NONE: "no history"}


def _messages_since_said(question: Question) -> int | None:
    """Return the messages since the answer was last said, of a question whose answer can be found."""
    said = [fold(m["content"]) for session in question.sessions for m in session.messages]
    options = (question.expected.answer,) if question.kind == "choice" else ()
    ways = [fold(way) for way in question.expected.ways or options]
    places = [number for number, text in enumerate(said) if any(way in text for way in ways)]
    return len(said) - 1 - places[-1] if places else None


def _distance_in(name: str) -> Callable[[Question], int | None]:
    return lambda question: question.distance if question.dataset.startswith(name) else None


class Questions(Suite):
    """One question about a history of conversations, asked at its end."""

    name = "questions"
    item = "question"
    dialogue = "question"
    kinds = KINDS
    domains = OWN_DOMAINS
    measures = MEASURES
    main = MEASURES
    metrics = tuple(Metric.mean(measure.value, measure) for measure in MEASURES)
    gate_example = "answer >= 0.8 or latest: answer >= 0.7"
    lift = (ANSWER, (_NONE,))
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
    thresholds: Mapping[Measure, float] = dict.fromkeys(MEASURES, 1)
    free = (CHOICE,)
    has_turns = False
    table_by_kind = True
    made_of = "row"
    words: Mapping[str, str] = REASONS
    scenario = Question
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
        return Asker()

    def scorer(self, settings: Settings, root: str) -> Judge:
        return EmbeddedJudge()

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
