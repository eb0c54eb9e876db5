"""The second suite: the prediction of replies and of their scores."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.suite.suite import Arm, Suite
from pytest_personalens.suites.personaconv.page.notes import WORDS, notes
from pytest_personalens.suites.personaconv.page.panels import outcome, panels
from pytest_personalens.suites.personaconv.page.parts import given_words, part_titles
from pytest_personalens.suites.personaconv.page.published import published
from pytest_personalens.suites.personaconv.roles import Asker, Scorer, of_run
from pytest_personalens.suites.personaconv.scoring.metrics import (
    CHARS,
    CORRECT,
    LOG_ERROR,
    MEASURES,
    METEOR,
    METEOR_ES,
    METRICS,
    ROUGE1,
    SBERT,
)
from pytest_personalens.suites.personaconv.values import (
    KINDS,
    SETTINGS,
    UNKNOWN_DOMAIN,
    Prediction,
    stratum_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.core.suite.data_check import DataCheck
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Kind

#: Name of an arm in ids and files -> its setting.
_ARMS: Final = {setting.lower(): setting for setting in SETTINGS}
_FIXED: Final = ("P-Conv", "P-NonConv", "none")
_CLASSES: Final = ("positive", "negative")


def _given(context: str, arm: str) -> str:
    return _ARMS.get(arm, arm) or context


def _read_context(text: str) -> str:
    setting = _ARMS.get(text.strip().lower())
    if setting is None:
        raise ValueError(f"expected one of: {', '.join(SETTINGS)}")
    return setting


def _kinds(settings: Mapping[str, Any]) -> tuple[Kind, ...]:
    wanted = settings["kind"].split(",")
    return tuple(kind for kind in KINDS if kind in wanted or settings["kind"] == "all")


def _path(base: str | Path, text: str) -> Path:
    """Return the path of a text; a relative one starts at `base`.

    Raise `SpecError` for the home folder of an unknown user, and for text that is no path.
    """
    try:
        if "\0" in text:
            raise RuntimeError("a path has no NUL in it")
        return Path(base) / Path(text).expanduser()
    except RuntimeError as error:
        raise SpecError(f"{text[:100]!r}: {error}") from None


def _open_dataset(spec: str, base: Path, settings: Mapping[str, Any]) -> Any:
    from pytest_personalens.datasets.embedded.files import data_folder
    from pytest_personalens.suites.personaconv.protocols.open import open_posts

    embedded = spec == "embedded"
    of_run = dict.fromkeys(_given(settings["context"], arm) for arm in ("", *settings["control"]))
    # A mark may ask for a setting that the run does not have, and these cost nothing more.
    wanted = (*of_run, *(_FIXED if settings["protocol"] == "fixed" else ()))
    return open_posts(
        data_folder() / "personaconv" if embedded else _path(base, spec),
        protocol=settings["protocol"],
        kinds=_kinds(settings),
        settings=tuple(setting for setting in SETTINGS if setting in wanted),
        history=settings["history"],
        seed=settings["seed"],
    )


def _strata(drawn: Mapping[str, int]) -> Sequence[str]:
    """Return the strata of the draw, beginning with the one to draw next.

    The kinds take turns. For sentiment, the class drawn least comes first, and the other class only if a user
    has nothing else.
    """
    classes = sorted((stratum_of("sentiment", name) for name in _CLASSES), key=lambda c: drawn.get(c, 0))
    of_kind = {"sentiment": (*classes, "sentiment"), "impact": ("impact",), "next-text": ("next-text",)}
    turns = sorted(KINDS, key=lambda kind: sum(drawn.get(stratum, 0) for stratum in of_kind[kind]))
    first = [stratum for kind in turns for stratum in of_kind[kind] if stratum != classes[1]]
    return [*first, classes[1]]


def _asker(settings: Mapping[str, Any]) -> Any:
    return Asker(settings["protocol"])


def _scorer(settings: Mapping[str, Any]) -> Any:
    return Scorer(partial(_texts_of, settings), settings["protocol"], settings["kind"])


def _texts_of(settings: Mapping[str, Any]) -> TextScorer:
    root, folder = settings["root"], settings["nltk_data"]
    return _texts(str(_path(root, folder)) if folder else "", settings["embedding"], root)


@cache
def _texts(folder: str, embedding: str | None, root: str) -> TextScorer:
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer

    data = Path(folder) if folder else None
    return TextScorer(nltk_data=data, embedding=embedding or "", root=root)


def _played(settings: Mapping[str, Any], model: Any, meter: Any, context: Context) -> Any:
    from pytest_personalens.suites.personaconv.model_assistant import ModelPredictor

    official = settings["protocol"] == "official"
    return ModelPredictor(model, meter, context, kind=settings["kind"], official=official)


def _stored_replies(spec: str, settings: Mapping[str, Any]) -> Any:
    from pytest_personalens.suites.personaconv.logs.outputs import PREFIX, StoredOutputs

    if not spec.startswith(PREFIX):
        return None
    return StoredOutputs(_path(settings["root"], spec.removeprefix(PREFIX)))


def _check_data(spec: str, words: int) -> DataCheck | None:
    from pytest_personalens.suites.personaconv.quality import check_data

    return check_data(spec, words)


def _prepare(settings: Mapping[str, Any]) -> None:
    """Open what scores texts, if the run may draw one."""
    if "next-text" in _kinds(settings):
        _texts_of(settings)


def _not_scored(settings: Mapping[str, Any]) -> dict[Measure, str]:
    lacking: dict[Measure, str] = {}
    if settings.get("nltk_data"):
        lacking[METEOR_ES] = "METEOR is scored instead; leave personalens_nltk_data out"
    else:
        lacking[METEOR] = "no WordNet given; set personalens_nltk_data, or use meteor-es"
    if settings.get("embedding"):
        lacking[CHARS] = "SBERT is scored instead; leave personalens_embedding out"
    else:
        lacking[SBERT] = "no embedding named; set personalens_embedding, or use chars"
    return lacking


def _situated(
    settings: Mapping[str, Any], scenario: BaseScenario, given: str, other: BaseScenario | None
) -> BaseScenario:
    return cast("Prediction", scenario).in_setting(given)


def _source(dataset: Any) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    excluded = getattr(dataset, "excluded", None)  # a dataset of a plugin has none
    if not isinstance(excluded, dict):
        return {}, {}
    return {kind: len(dataset.items(kind)) for kind in excluded}, excluded


def _left_out(dataset: Any) -> Iterator[str]:
    for kind, reasons in _source(dataset)[1].items():
        if reasons:
            yield f"left out, {kind}:"
        for user, number, reason in dataset.left_out(kind):
            yield f"  post {number} of {user}: {WORDS.get(reason, reason)}"


def _check(settings: Mapping[str, Any]) -> None:
    for arm in settings["control"]:
        if _given("", arm) == settings["context"]:
            raise SpecError(
                f"--personalens-control {_given('', arm)}: the run itself has this setting"
                " (--personalens-context); there is nothing to compare"
            )


def _terms(settings: Mapping[str, Any]) -> dict[str, str]:
    embedding = {"the embedding": settings["embedding"]} if settings.get("embedding") else {}
    return {"the place of the past": settings.get("history", "request"), **embedding}


def _about(settings: Mapping[str, Any]) -> str:
    past = ", past in the context" if settings["history"] == "context" else ""
    return f"protocol {settings['protocol']}, {settings['context']}{past}"


def _facts(settings: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(settings.get(name, "-")) for name in ("protocol", "context", "history")}


SUITE: Final = Suite(
    name="personaconv",
    item="prediction",
    dialogue="prediction",
    judged_by="scorer",
    kinds=KINDS,
    domains=(UNKNOWN_DOMAIN,),
    measures=MEASURES,
    main=(CORRECT, LOG_ERROR, ROUGE1),
    metrics=METRICS,
    gate_example="accuracy >= 0.7 or Gaming: mae <= 60",
    arms=tuple(Arm(name=name, word=setting, title=setting) for name, setting in _ARMS.items()),
    thresholds={CORRECT: 1},
    has_turns=False,
    table_by_kind=True,
    made_of="post",
    words=WORDS,
    notes=notes,
    panels=panels,
    outcome=outcome,
    part_titles=part_titles,
    given_words=given_words,
    source=_source,
    left_out=_left_out,
    scenario=Prediction,
    open_dataset=_open_dataset,
    asker=_asker,
    scorer=_scorer,
    prepare=_prepare,
    played=_played,
    stored_replies=_stored_replies,
    controls_request=lambda settings: settings["history"] == "request",
    not_scored=_not_scored,
    judge_of_run=of_run,
    defaults={
        "context": "P-Conv",
        "protocol": "fixed",
        "dimensions": tuple(measure.value for measure in MEASURES),
    },
    lacks=(
        "user_model", "judge_model", "judge_votes", "max_turns", "adopt_judge", "check_judge", "anchors",
        "prompts", "official_bugs", "user_agent", "assistant_prompt", "lost_to_user",
    ),
    protocols=("fixed", "official"),
    read_context=_read_context,
    given=_given,
    situated=_situated,
    strata=_strata,
    check=_check,
    terms=_terms,
    about=_about,
    facts=_facts,
    published=published,
    check_data=_check_data,
)  # fmt: skip
