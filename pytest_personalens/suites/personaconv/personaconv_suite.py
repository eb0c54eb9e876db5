"""The second suite: the prediction of replies and of their scores."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.suite import Control, Suite
from pytest_personalens.suites.personaconv.metrics import (
    CHARS,
    CORRECT,
    LOG_ERROR,
    MEASURES,
    METEOR,
    METEOR_ES,
    METRICS,
    OTHER,
    ROUGE1,
    SBERT,
    Asker,
    Scorer,
    best_of,
    largest_share,
    run_identity,
)
from pytest_personalens.suites.personaconv.predictions import (
    KINDS,
    SETTINGS,
    UNKNOWN_DOMAIN,
    Prediction,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.core.suite import DataCheck, SettingsByName
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.suites.personaconv.texts import TextScorer


_WORDS: Final = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
#: Why a post gives no item of a kind, or the name of a leak -> its words.
REASONS: Final[Mapping[str, str]] = _WORDS["reasons"]


#: Name of a control in ids and files -> its setting.
_CONTROLS: Final = {setting.lower(): setting for setting in SETTINGS}
_FIXED: Final = ("P-Conv", "P-NonConv", "none")


def _best_trials(items: Sequence[Item]) -> Iterator[str]:
    """Yield the mean of the best trial of each item, as the official scripts have it."""
    scores: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for item in items:
        for verdict in item.evaluation.verdicts if item.evaluation.scored else ():
            by_item = scores.setdefault(verdict.dimension.names.title, {})
            by_item.setdefault(item.key, []).append(float(verdict.score))
    most = max((len(trials) for by_item in scores.values() for trials in by_item.values()), default=1)
    for title, by_item in scores.items() if most > 1 else ():
        kept, left_out = best_of(list(by_item.values()))
        without = "" if left_out is None else f", {left_out:.2f} where zeros are left out"
        yield f"best of {most}: {title} {kept:.2f}{without}"


def _kinds(settings: Settings) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if kind in (settings.kinds or KINDS))


def _path(base: str | Path, text: str) -> Path:
    """Return the path of a text from `base`. Raise `SpecError` for text that is no path."""
    try:
        if "\0" in text:
            raise RuntimeError("a path has no NUL in it")
        return Path(base) / Path(text).expanduser()
    except RuntimeError as error:
        raise SpecError(f"{text[:100]!r}: {error}") from None


def _open_texts(settings: Settings, root: str) -> TextScorer:
    folder = settings.nltk_data
    return _open_texts_once(_path(root, folder) if folder else None, settings.embedding or "", root)


@cache
def _open_texts_once(folder: Path | None, embedding: str, root: str) -> TextScorer:
    from pytest_personalens.suites.personaconv.texts import TextScorer

    return TextScorer(nltk_data=folder, embedding=embedding, root=root)


class PersonaConv(Suite):
    """The predictions of PersonaConvBench: the sentiment, the score and the text of a user's next reply."""

    name = "personaconv"
    item = "prediction"
    dialogue = "prediction"
    judged_by = "scorer"
    kinds = KINDS
    domains = (UNKNOWN_DOMAIN,)
    measures = MEASURES
    main = (CORRECT, LOG_ERROR, ROUGE1)
    metrics = METRICS
    gate_example = "accuracy >= 0.7 or Gaming: mae <= 60"
    controls = tuple(Control(name=name, word=setting, title=setting) for name, setting in _CONTROLS.items())
    thresholds: Mapping[Measure, float] = {CORRECT: 1}
    has_turns = False
    table_by_kind = True
    made_of = "post"
    words = REASONS
    scenario = Prediction
    defaults: Mapping[str, Any] = {"context": "P-Conv", "protocol": "fixed"}
    lacks = (
        "slice", "manner", "criteria", "calibration",
        "user_model", "judge_model", "judge_votes", "max_turns", "adopt_judge", "check_judge", "anchors",
        "prompts", "official_bugs", "user_agent", "assistant_prompt", "dialogues",
        "generate_only",
    )  # fmt: skip
    protocols = ("fixed", "official")

    def open_dataset(self, spec: str, base: Path, settings: Settings) -> Any:
        from pytest_personalens.datasets.embedded.packaged import packaged_file
        from pytest_personalens.suites.personaconv.open_posts import open_posts

        embedded = spec == "embedded"
        of_run = dict.fromkeys(self.given(settings.context, control) for control in ("", *settings.control))
        # A mark may ask for a setting that the run does not have, and these cost nothing more.
        wanted = (*of_run, *(_FIXED if settings.protocol == "fixed" else ()))
        return open_posts(
            packaged_file("personaconv") if embedded else _path(base, spec),
            protocol=settings.protocol,
            kinds=_kinds(settings),
            settings=tuple(setting for setting in SETTINGS if setting in wanted),
            history=settings.history,
            seed=settings.seed,
        )

    def draw_order(self, drawn: Mapping[str, int]) -> Sequence[str]:
        """Return the strata of the draw, beginning with the one to draw next.

        The kinds take turns. For sentiment, the class drawn least comes first, and the other class only if a
        user has nothing else.
        """
        classes = sorted((stratum_of("sentiment", name) for name in OTHER), key=lambda c: drawn.get(c, 0))
        of_kind = {"sentiment": (*classes, "sentiment"), "impact": ("impact",), "next-text": ("next-text",)}
        turns = sorted(KINDS, key=lambda kind: sum(drawn.get(stratum, 0) for stratum in of_kind[kind]))
        first = [stratum for kind in turns for stratum in of_kind[kind] if stratum != classes[1]]
        return [*first, classes[1]]

    def source(self, dataset: Any) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
        excluded = getattr(dataset, "excluded", None)  # a dataset of a plugin has none
        if not isinstance(excluded, dict):
            return {}, {}
        return {kind: len(dataset.items(kind)) for kind in excluded}, excluded

    def left_out(self, dataset: Any) -> Iterator[str]:
        for kind, reasons in self.source(dataset)[1].items():
            if reasons:
                yield f"left out, {kind}:"
            for user, number, reason in dataset.left_out(kind):
                yield f"  post {number} of {user}: {REASONS.get(reason, reason)}"

    def check_data(self, spec: str, words: int) -> DataCheck | None:
        from pytest_personalens.suites.personaconv.open_posts import check_data

        return check_data(spec)

    def asker(self, settings: Settings) -> UserAgent:
        return Asker(settings.protocol)

    def scorer(self, settings: Settings, root: str) -> Any:
        return Scorer(partial(_open_texts, settings, root), settings.protocol, settings.kind)

    def prepare(self, settings: Settings, root: str) -> None:
        """Open what scores texts, if the run may draw one."""
        if "next-text" in _kinds(settings):
            _open_texts(settings, root)

    def played(self, settings: Settings, model: Any, meter: Any, context: Context) -> Any:
        from pytest_personalens.suites.personaconv.metrics import ModelPredictor

        official = settings.protocol == "official"
        return ModelPredictor(model, meter, context, kind=settings.kind, official=official)

    def read_context(self, text: str) -> str:
        setting = _CONTROLS.get(text.strip().lower())
        if setting is None:
            raise ValueError(f"expected one of: {', '.join(SETTINGS)}")
        return setting

    def given(self, context: str, control: str) -> str:
        return _CONTROLS.get(control, control) or context

    def situated(
        self, settings: Settings, scenario: BaseScenario, given: str, other: BaseScenario | None
    ) -> BaseScenario:
        assert isinstance(scenario, Prediction)
        return scenario.in_setting(given)

    def controls_request(self, settings: Settings) -> bool:
        return settings.history == "request"

    def default_measures(self, settings: SettingsByName) -> tuple[Measure, ...]:
        return self.measures

    def not_scored(self, settings: SettingsByName) -> dict[Measure, str]:
        lacking: dict[Measure, str] = {}
        for option, with_it, without_it, missing in (
            ("nltk_data", METEOR, METEOR_ES, "no WordNet given"),
            ("embedding", SBERT, CHARS, "no embedding named"),
        ):
            if settings.get(option):
                title = with_it.names.title
                lacking[without_it] = f"{title} is scored instead; leave personalens_{option} out"
            else:
                lacking[with_it] = f"{missing}; set personalens_{option}, or use {without_it.value}"
        return lacking

    def check(self, settings: Settings) -> None:
        for control in settings.control:
            if self.given("", control) == settings.context:
                raise SpecError(
                    f"--personalens-control {self.given('', control)}: the run itself has this setting"
                    " (personalens_context); there is nothing to compare",
                    code="PL108",
                )

    def about(self, settings: Settings) -> str:
        past = ", past in the context" if settings.history == "context" else ""
        return f"protocol {settings.protocol}, {settings.context}{past}"

    def judge_of_run(self, identity: str) -> str:
        return run_identity(identity)

    def terms(self, settings: SettingsByName) -> dict[str, str]:
        embedding = {"the embedding": settings["embedding"]} if settings.get("embedding") else {}
        return {"the place of the past": settings.get("history", "request"), **embedding}

    def facts(self, settings: SettingsByName) -> dict[str, str]:
        return {name: str(settings.get(name, "-")) for name in ("protocol", "context", "history")}

    def given_words(self, settings: SettingsByName, given: str) -> str:
        """Return what the assistant knew in a setting of the protocol ``fixed``.

        In ``official``, the settings differ in more, which only the requests tell.
        """
        return str(_WORDS["given"].get(given, "")) if settings.get("protocol") == "fixed" else ""

    def notes(self, kind: str, items: Sequence[Item]) -> Iterator[str]:
        """Yield what a reader must know about the figures of a kind, from the items of the run itself."""
        answers = [answer for item in items if (answer := item.evaluation.answer) is not None]
        if kind == "sentiment":
            truths = [str(answer.truth) for answer in answers]
            if len(truths) > 1 and len(set(truths)) == 1:
                same = f"all true answers are {truths[0]}"
                yield f"{same}: MCC has no value, and the same answer to all is right"
        if kind == "impact":
            read = [answer for answer in answers if answer.value is not None]
            numbers = [float(answer.truth or 0) for answer in read]
            largest = largest_share(numbers, [float(answer.value or 0) for answer in read])
            heaviest = ""
            if largest is not None:
                place, share = largest
                heaviest = f"; one reply of {numbers[place]:,.0f} carries {share:.0%} of the squared error"
            yield f"lower is better, but for skill{heaviest}"
        if kind == "next-text":
            yield from _best_trials(items)

    def outcome(self, item: Item) -> str:
        """Return ``right``, ``wrong`` or ``not read``; an empty text for a number or a text that was read."""
        answer = item.evaluation.answer
        if answer is None or (answer.read and item.evaluation.kind != "sentiment"):
            return ""
        if not answer.read:
            return "not read"
        return "right" if answer.value == answer.truth else "wrong"


SUITE: Final = PersonaConv()
