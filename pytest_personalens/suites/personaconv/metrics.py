"""Who asks, answers and scores in a prediction: the measures of an item, and the metrics of a run."""

from __future__ import annotations

import hashlib
import json
import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault, short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.answer import Answer
from pytest_personalens.core.judging.measure import Measure, MeasureNames, Metric, OfSums
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.core.safe_text import count
from pytest_personalens.models import Model, Request
from pytest_personalens.models.read_answer import without_thoughts
from pytest_personalens.suites.personaconv.predictions import digest_of, template_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Exact, Row
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.suites.personaconv.predictions import Prediction
    from pytest_personalens.suites.personaconv.texts import TextScorer

POSITIVE: Final = "positive"
NEGATIVE: Final = "negative"
#: Class -> the other class.
OTHER: Final = {POSITIVE: NEGATIVE, NEGATIVE: POSITIVE}
#: Marks that may surround an answer: fences, quotes and emphasis.
_FENCE: Final = re.compile(r"\A```\w*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_AROUND: Final = "*_`\"'\u201c\u201d\u2018\u2019\u00ab\u00bb \t\r\n"
_NUMBER: Final = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
#: The form of a number in a text, for the live scripts.
_LIVE_NUMBER: Final = re.compile(r"[-+]?\b\d+(?:\.\d+)?\b")
#: The highest number of characters that are searched for a class or a number.
_LONGEST: Final = 100_000
_SHOWN: Final = 60


class Reading(NamedTuple):
    """The answer that was read: a class, a number or a text; or None with the `reason`."""

    value: str | float | None
    reason: str = ""

    @property
    def read(self) -> bool:
        """True if the answer could be read."""
        return self.value is not None


def read_answer(reply: object, kind: str, protocol: str = "fixed") -> Reading:
    """Return the answer in a reply.

    A reply is a text, a mapping with ``answer``, or a text that is such an object as JSON. With ``fixed``,
    the answer is exactly one class or exactly one finite number. Fences, quotes, emphasis, thoughts and a
    closing full stop are ignored. With ``official``, the answer is that of the live scripts.
    """
    answer, official = reply, protocol == "official"
    if isinstance(reply, str) and reply.lstrip()[:1] == "{":
        with suppress(ValueError, RecursionError):
            content = json.loads(reply)
            answer = content.get("answer", reply) if isinstance(content, dict) else reply
    elif isinstance(reply, Mapping):
        if "answer" not in reply:
            return _unread("a mapping without 'answer'", dict(reply))
        answer = reply["answer"]
    elif not isinstance(reply, str):
        return _unread("no text", reply)
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return _unread("no text or number", answer)
    text = str(answer)
    if kind == "next-text":
        cleaned = clean(text if official else without_thoughts(text)).strip()
        return Reading(cleaned) if cleaned else _unread("no text", text)
    text = text[:_LONGEST]
    bare = text.strip() if official else _bare(text)
    if kind == "sentiment":
        problem = "not exactly positive or negative" if official else "neither positive nor negative alone"
        return Reading(bare.lower()) if bare.lower() in OTHER else _unread(problem, text)
    number = _live_number(bare) if official else _number(bare)
    if number is None:
        return _unread("no finite number" if official else "not exactly one number", text)
    return Reading(number)


def _number(text: str) -> float | None:
    number = float(text.replace(",", "").replace("\u2212", "-")) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def _live_number(text: str) -> float | None:
    """Return a text as a number, or the last number in it."""
    try:
        number = float(text)
    except ValueError:
        number = float((_LIVE_NUMBER.findall(text) or [math.inf])[-1])
    return number if math.isfinite(number) else None


def _bare(text: str) -> str:
    """Return the text without thoughts and without marks around an answer."""
    text = without_thoughts(text).strip()
    if fenced := _FENCE.match(text):
        text = fenced[1]
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND)


def _unread(problem: str, reply: object) -> Reading:
    return Reading(None, f"{problem}: {clean(short_repr(reply, _SHOWN))}")


def log_error(truth: float, answer: float) -> float:
    """Return the distance, 0 or more, of two numbers on a logarithmic scale that keeps their signs."""
    return abs(_signed_log(answer) - _signed_log(truth))


def _signed_log(number: float) -> float:
    return math.copysign(math.log1p(abs(number)), number)


def largest_share(truths: Sequence[float], answers: Sequence[float]) -> tuple[int, float] | None:
    """Return the place of the largest squared error and its share of the total, or None without errors."""
    errors = [abs(answer - truth) for truth, answer in zip(truths, answers, strict=True)]
    most = max(errors, default=0.0)
    if not most:
        return None
    squares = [(error / most) ** 2 for error in errors]  # so that none overflows
    return errors.index(most), 1 / sum(squares)


def best_of(candidates: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Return the mean of each item's best value, with zeros and, as the scripts of GPT do, without them."""
    best = [max(values) for values in candidates if values]
    filled = [value for value in best if value]
    return fmean(best) if best else None, fmean(filled) if filled else None


def _measure(name: str, title: str, *, kind: str = "next-text", grid: int = 1000, **more: Any) -> Measure:
    names = MeasureNames(name, title, title, title, title, title)
    return Measure(name, names, grid=Fraction(1, grid), kinds=(kind,), **more)


CORRECT: Final = Measure(
    "correct",
    MeasureNames("correct", "Accuracy", "accuracy", "correct", "accuracy", "acc"),
    kinds=("sentiment",),
)
LOG_ERROR: Final = _measure("log-error", "log error", kind="impact", grid=100, high=None, better="low")
ROUGE1: Final = _measure("rouge1", "ROUGE-1")
METEOR: Final = _measure("meteor", "METEOR")
METEOR_ES: Final = _measure("meteor-es", "METEOR-es")
SBERT: Final = _measure("sbert", "SBERT", low=-1)
CHARS: Final = _measure("chars", "chars")
_ROUGE_L, _BLEU = _measure("rougeL", "ROUGE-L"), _measure("bleu", "BLEU")
TEXTS: Final = (ROUGE1, _ROUGE_L, _BLEU, METEOR, METEOR_ES, SBERT, CHARS)
#: In the order of tables.
MEASURES: Final = (CORRECT, LOG_ERROR, *TEXTS)


def _class_rows(answers: Sequence[Answer]) -> list[Row]:
    """Return true and false positives, all that are truly positive, and 1, for each answer."""
    pairs = [(answer.truth == POSITIVE, answer.value == POSITIVE) for answer in answers]
    return [(int(true and said), int(said and not true), int(true), 1) for true, said in pairs]


def _f1(sums: Row) -> float:
    """F1 of the class positive; it is 0 if the class is neither true nor predicted."""
    tp, fp, positive, _ = sums
    return float(2 * tp / (tp + fp + positive)) if tp else 0.0


def _f1_weighted(sums: Row) -> float:
    """The mean F1 of both classes, each weighted by the number of its true items."""
    _, fp, positive, every = sums
    negative = every - positive
    turned = (negative - fp, positive - sums[0], negative, every)
    return float((_f1(sums) * positive + _f1(turned) * negative) / every)


def _mcc(sums: Row) -> float | None:
    """Matthews' correlation; None if only one class is true, and 0 if only one is predicted."""
    tp, fp, positive, every = map(int, sums)
    fn, tn = positive - tp, every - positive - fp
    if not (positive and tn + fp):
        return None
    product = (tp + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(product * positive * (tn + fp)) if product else 0.0


def _error_rows(answers: Sequence[Answer]) -> list[Row]:
    """Return squared and absolute error, that of the median of the other answers, and 1, for each answer."""
    truths = [_exact(float(answer.truth or 0)) for answer in answers]
    values = [_exact(float(answer.value or 0)) for answer in answers]
    errors = [_distance(value, truth) for value, truth in zip(values, truths, strict=True)]
    of_medians = _errors_of_medians(truths)
    return [(error * error, error, other, 1) for error, other in zip(errors, of_medians, strict=True)]


def _exact(number: float) -> Exact:
    """Return a number as it is written: 0.1 as one tenth."""
    return int(number) if number.is_integer() else Fraction(repr(number))


def _distance(one: Exact, other: Exact) -> Exact:
    return one - other if one > other else other - one


def _errors_of_medians(truths: Sequence[Exact]) -> list[Exact]:
    """Return the error of each number if the median of the others predicts it; 0 without others."""
    ordered = sorted(truths)
    return [_distance(truth, _median_without(ordered, bisect_left(ordered, truth))) for truth in truths]


def _median_without(ordered: Sequence[Exact], place: int) -> Exact:
    """Return the median of a sorted list without the number in that place; that number if it is alone."""
    left = len(ordered) - 1
    if not left:
        return ordered[place]
    lower, upper = (ordered[at + (at >= place)] for at in ((left - 1) // 2, left // 2))
    return lower if lower == upper else Fraction(lower + upper) / 2


def _rmse(sums: Row) -> float:
    """Return the root of a mean of squares, also where the squares are too large for a float."""
    squares, count = sums
    try:
        return math.sqrt(squares / count)
    except OverflowError:
        mean = Fraction(squares) / count
        halved = (mean.numerator.bit_length() - mean.denominator.bit_length()) // 2
        return math.ldexp(math.sqrt(mean / (1 << 2 * halved)), halved)


def _mean(sums: Row) -> float:
    total, count = sums
    return float(total / count)


def _skill(sums: Row) -> float | None:
    """Return 1 minus the error over that of the medians: 1 is perfect, 0 no better than the median."""
    error, of_medians = sums
    return 1 - float(error / of_medians) if of_medians else None


def _read_rows(answers: Sequence[Answer]) -> list[Row]:
    return [(int(answer.read), 1) for answer in answers]


def _metric(name: str, kind: str, of: OfSums, label: str, **more: Any) -> Metric:
    more = {"kinds": (kind,) if kind else (), "undecided": "nothing was read", **more}
    return Metric(name=name, of=of, label=label, heading=label, **more)


_ONE_CLASS: Final = "all true answers are of one class, so it has no value"
_FEW: Final = "it needs two answers, of scores that differ"
#: In the order of tables. A figure of errors is in votes, except log-error and skill.
METRICS: Final = (
    Metric.mean("accuracy", CORRECT, CORRECT.value),
    _metric("f1", "sentiment", OfSums(_class_rows, _f1), "F1"),
    _metric("f1-weighted", "sentiment", OfSums(_class_rows, _f1_weighted), "weighted F1"),
    _metric("mcc", "sentiment", OfSums(_class_rows, _mcc), "MCC", low=-1, undecided=_ONE_CLASS),
    _metric("rmse", "impact", OfSums(_error_rows, _rmse, (0, 3)), "RMSE", high=None, better="low"),
    _metric("mae", "impact", OfSums(_error_rows, _mean, (1, 3)), "MAE", high=None, better="low"),
    Metric.mean(LOG_ERROR.value, LOG_ERROR),
    _metric("skill", "impact", OfSums(_error_rows, _skill, (1, 2)), "skill", low=None, undecided=_FEW),
    *(Metric.mean(measure.value, measure) for measure in TEXTS),
    _metric("parsed", "", OfSums(_read_rows, _mean), "readable replies", counts_unread=True),
)


#: Raise this number if the same reply would be read or scored in another way.
_VERSION: Final = 1
_TEXTS: Final = ", texts/"
_MEASURES: Final = {measure.value: measure for measure in MEASURES}
_ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "sentiment": {"type": "string", "enum": ["positive", "negative"]},
    "impact": {"type": "number"},
    "next-text": {"type": "string"},
}
#: The parameters of the official scripts: temperature, and the limit of tokens (for Claude, if it differs).
_OFFICIAL: Final = {"sentiment": (0.0, 10, 10), "impact": (0.0, 25, 7), "next-text": (0.7, 256, 256)}


class Asker:
    """Sends the request of an item, and is then done."""

    paid = False

    def __init__(self, protocol: str = "fixed") -> None:
        self.identity = f"personaconv/{protocol} ({template_of(protocol).digest})"

    def turn(self, scenario: Prediction, transcript: Sequence[Message]) -> UserTurn:
        """Return the only message that the assistant gets."""
        return UserTurn(scenario.single_request.text, done=True)


class Scorer:
    """Returns the values of a reply, each on the grid of its measure.

    `texts` makes the scorer of texts; it is called for items of the kind next-text alone. `identity` names
    everything that the values of a `kind` depend on, except the reply. If it changes, replies are scored
    again.
    """

    paid = False

    def __init__(self, texts: Callable[[], TextScorer], protocol: str = "fixed", kind: str = "") -> None:
        self._texts, self._protocol = texts, protocol
        self.identity = f"personaconv-scorer/{_VERSION} {protocol}"
        if kind == "next-text":
            self.identity += f", {texts().identity}"
        self._last: tuple[tuple[str, str], tuple[Reading, dict[str, Exact]]] | None = None

    def answer(self, scenario: Prediction, dialogue: Dialogue) -> Answer:
        """Return what was answered, with the truth and the leaks of the request.

        A class that cannot be read has the value that it counts as: the wrong class. In the protocol
        ``official`` it does not count. Nothing is scored here: a record may have the verdicts.
        """
        read = read_answer(dialogue.messages[-1].content, scenario.kind, self._protocol)
        truth, value = scenario.truth, read.value
        if scenario.kind == "next-text":
            truth, value = digest_of(truth), None if value is None else digest_of(value)
        elif value is None and self._counts_unread(scenario):
            value = OTHER[str(truth)]
        return Answer(read=read.read, value=value, truth=truth, leaks=scenario.single_request.leaks)

    def verdict(self, scenario: Prediction, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the score on one measure. Raise `AssistantFault` for an answer that has no score."""
        reply = dialogue.messages[-1].content
        key = (scenario.id, reply)
        if self._last is None or self._last[0] != key:  # scored once for all measures
            self._last = key, self.score(scenario, reply)
        answer, values = self._last[1]
        if dimension.value not in values:
            raise AssistantFault(answer.reason)
        why = answer.reason  # without any text of the data
        if not why and scenario.kind == "next-text":
            why = f"read as a text of {count(len(str(answer.value).split()), 'word')}"
        elif not why:
            why = f"read as {answer.value if isinstance(answer.value, str) else f'{answer.value:g}'}"
        return Verdict(dimension=dimension, score=float(values[dimension.value]), justification=why)

    def score(self, prediction: Prediction, reply: object) -> tuple[Reading, dict[str, Exact]]:
        """Return the answer in a reply, and its values by measure.

        An answer that cannot be read has none, except as a wrong class in ``fixed``.
        """
        answer, truth = read_answer(reply, prediction.kind, self._protocol), prediction.truth
        if answer.value is None and not self._counts_unread(prediction):
            return answer, {}
        if prediction.kind == "sentiment":
            return answer, {"correct": Fraction(answer.value == truth)}
        if prediction.kind == "impact":
            values = {"log-error": log_error(float(truth), float(answer.value or 0))}
        else:
            values = self._texts().values(str(truth), str(answer.value))
        # Exact tests count in steps of the measure.
        return answer, {name: _MEASURES[name].exact(value) for name, value in values.items()}

    def _counts_unread(self, prediction: Prediction) -> bool:
        return prediction.kind == "sentiment" and self._protocol == "fixed"


def run_identity(identity: str) -> str:
    """Return the part of a scorer's identity that all kinds share."""
    return identity.partition(_TEXTS)[0]


class ModelPredictor:
    """An assistant that answers a request with one call of a language model.

    In the protocol ``fixed``, a model that offers it is bound to a JSON schema of the answer. In ``official``
    it has the parameters of the official scripts, and writes plain text. There is no system text, except the
    user's past where the context holds it.
    """

    def __init__(
        self, model: Model, meter: Meter, context: Context, *, kind: str, official: bool = False
    ) -> None:
        self._model, self._meter, self._official = model, meter, official
        self._kind, self._known = kind or "sentiment", context.text()
        digest = hashlib.sha256(self._known.encode()).hexdigest()[:8] if self._known else "no context"
        self.identity = f"{model.name} personaconv {'official' if official else 'fixed'} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the answer as text or as a JSON object. Raise `AssistantFault` if the model gives none."""
        request = Request(self._known, messages[-1]["content"])
        if self._official:
            temperature, most, of_claude = _OFFICIAL[self._kind]
            most = of_claude if "claude" in self._model.name.lower() else most
            request = request._replace(temperature=temperature, max_tokens=most)
        else:
            schema = {
                "type": "object",
                "properties": {"answer": _ANSWERS[self._kind]},
                "required": ["answer"],
                "additionalProperties": False,
            }
            request = request._replace(answer=schema)
        answer = self._meter.complete(self._model, request, "assistant", fault=AssistantFault, partial=True)
        if answer.is_empty:
            raise AssistantFault(f"{self._model.name}: {answer.problem}")
        reply = answer.text if answer.data is None else json.dumps(answer.data, ensure_ascii=False)
        # The limits of the official scripts cut most texts, which is how those are meant.
        return Cut(reply, answer.cut) if answer.cut and not self._official else reply
