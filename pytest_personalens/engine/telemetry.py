"""OpenTelemetry: a span for each dialogue and an event for each reading, where the process has an SDK.

The names are those of the semantic conventions for generative AI (in development: they may change):
https://github.com/open-telemetry/semantic-conventions-genai
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.engine.job import Job

_NAME: Final = "pytest-personalens"
#: Loaded in every process that has an SDK set up, by hand or by `opentelemetry-instrument`.
SDK: Final = "opentelemetry.sdk"
_RESULT: Final = "gen_ai.evaluation.result"


@contextmanager
def dialogue_span(job: Job) -> Iterator[Callable[[Evaluation], None]]:
    """Yield a function to call with the evaluation, within a span whose children are the assistant's spans.

    Only for a process with an `SDK`. Neither span nor events hold what was said, but for the judge's
    explanations.
    """
    from opentelemetry import trace

    tracer = trace.get_tracer(_NAME, version(_NAME))
    with tracer.start_as_current_span("invoke_agent", attributes=_attributes(job)) as span:
        yield lambda evaluation: _describe(span, job, evaluation)


def _attributes(job: Job) -> dict[str, Any]:
    scenario = job.scenario
    conversation = {"gen_ai.conversation.id": job.context.dialogue} if job.context.dialogue else {}
    return {
        "gen_ai.operation.name": "invoke_agent",
        **conversation,
        "test.suite.name": _NAME,
        "test.case.name": scenario.id,
        "personalens.user": scenario.user,
        "personalens.dataset": scenario.dataset,
        "personalens.kind": scenario.kind,
        "personalens.domains": list(scenario.domains),
    }


def _describe(span: Any, job: Job, evaluation: Evaluation) -> None:
    """Write the outcome of the dialogue on its span, and emit an event for each reading."""
    from opentelemetry.trace import StatusCode

    if evaluation.assistant:
        span.set_attribute("gen_ai.agent.name", evaluation.assistant)
    span.set_attribute("personalens.user_agent", evaluation.user_agent)
    span.set_attribute("personalens.judge", evaluation.judge)
    span.set_attribute("personalens.turns", evaluation.dialogue.user_turns)
    passed = evaluation.scored
    for verdict in evaluation.verdicts:
        least = job.thresholds.get(verdict.dimension.value)
        reached = None if least is None else not verdict.dimension.is_worse(verdict.score, least)
        passed = passed and reached is not False
        label = {} if reached is None else {"gen_ai.evaluation.score.label": "pass" if reached else "fail"}
        _emit(
            {
                "gen_ai.evaluation.name": verdict.dimension.value,
                "gen_ai.evaluation.score.value": float(verdict.score),
                **label,
                "gen_ai.evaluation.explanation": verdict.justification,
            }
        )
    for measure in evaluation.unread:
        passed = passed and measure not in job.thresholds
        _emit({"gen_ai.evaluation.name": measure.value, "error.type": "judge"})
    if evaluation.cause:
        span.set_attribute("error.type", evaluation.cause)
        span.set_status(StatusCode.ERROR, evaluation.detail)
        for measure in job.dimensions if evaluation.cause == "judge" else ():
            _emit({"gen_ai.evaluation.name": measure.value, "error.type": evaluation.cause})
    else:
        span.set_attribute("test.case.result.status", "pass" if passed else "fail")


def _emit(attributes: dict[str, Any]) -> None:
    from opentelemetry._logs import LogRecord, SeverityNumber, get_logger
    from opentelemetry.context import get_current

    get_logger(_NAME, version(_NAME)).emit(
        LogRecord(
            event_name=_RESULT,
            severity_number=SeverityNumber.INFO,
            context=get_current(),
            attributes=attributes,
        )
    )
