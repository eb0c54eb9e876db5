"""Spans and events of OpenTelemetry, as the SDK's exporters in memory see them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

BOT = """
    import json
    from pathlib import Path

    import pytest
    from opentelemetry import _logs, trace
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, events = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(events))
    trace.set_tracer_provider(tracers)
    _logs.set_logger_provider(loggers)

    @pytest.fixture(scope="module")
    def personalens_assistant():
        def reply(messages):
            with trace.get_tracer("bot").start_as_current_span("chat"):
                if CRASHES:
                    raise KeyError("user_profile")
                return "I've booked it for 19:30, reference QX77."
        ASYNC
        return reply

    def pytest_sessionfinish():
        told = [{"name": s.name, "id": s.context.span_id, "parent": s.parent and s.parent.span_id,
                 "status": s.status.status_code.name, **s.attributes} for s in spans.get_finished_spans()]
        said = [{"event": r.log_record.event_name, "span": r.log_record.span_id, **r.log_record.attributes}
                for r in events.get_finished_logs()]
        Path("told.json").write_text(json.dumps([told, said], default=list))
"""
ASYNC = """
        async def later(messages):
            return reply(messages)
        return later
"""


def told(repo: Repository, *more: str, crashes: bool = False, later: str = "") -> tuple[list[Any], list[Any]]:
    """The spans and the events of a run over three scenarios."""
    repo.write(conftest=BOT.replace("CRASHES", str(crashes)).replace("\n        ASYNC\n", later or "\n"))
    repo.run("--personalens-sample=3", *more)
    spans, events = json.loads((repo.path / "told.json").read_text())
    return spans, events


@pytest.fixture
def repo(pytester: pytest.Pytester) -> Repository:
    return Repository(pytester)


@pytest.mark.parametrize(
    ("more", "later"),
    [((), ""), (("-opersonalens_parallel=3",), ""), ((), ASYNC)],
    ids=["one by one", "side by side", "async"],
)
def test_a_dialogue_is_a_span_with_spans_below(repo: Repository, more: tuple[str, ...], later: str) -> None:
    spans, events = told(repo, *more, "--personalens-report=results.json", later=later)
    dialogues = {span["id"]: span for span in spans if span["name"] == "invoke_agent"}
    calls = [span for span in spans if span["name"] == "chat"]
    evaluations = [item["evaluation"] for item in repo.results()["items"]]
    names = {e["scenario"] for e in evaluations}
    assert {span["test.case.name"] for span in dialogues.values()} == names
    assert len(dialogues) == 3
    assert calls
    assert {call["parent"] for call in calls} == set(dialogues)
    assert {span["gen_ai.operation.name"] for span in dialogues.values()} == {"invoke_agent"}
    assert len({span["gen_ai.conversation.id"] for span in dialogues.values()} - {""}) == 3

    readings = [(e["scenario"], v) for e in evaluations for v in e["verdicts"]]
    of_results = {(name, v["dimension"], float(v["score"]), v["justification"]) for name, v in readings}
    assert {event["event"] for event in events} == {"gen_ai.evaluation.result"}
    keys = [f"gen_ai.evaluation.{key}" for key in ("name", "score.value", "explanation")]
    told_of = {(dialogues[e["span"]]["test.case.name"], *(e[key] for key in keys)) for e in events}
    assert told_of == of_results
    assert len(events) == len(of_results) == 12


def test_a_label_says_whether_the_threshold_was_reached(repo: Repository) -> None:
    spans, events = told(repo, "-opersonalens_threshold=p=1,tc=1")
    labels = {(e["gen_ai.evaluation.name"], e.get("gen_ai.evaluation.score.label")) for e in events}
    assert ("personalization", "pass") in labels
    assert ("task_completion", "fail") in labels
    assert ("facts", None) in labels, "no threshold, no label"
    assert "fail" in {span.get("test.case.result.status") for span in spans}


def test_a_crash_is_an_error_of_the_span_and_no_reading(repo: Repository) -> None:
    spans, events = told(repo, crashes=True)
    dialogues = [span for span in spans if span["name"] == "invoke_agent"]
    assert [(s["error.type"], s["status"]) for s in dialogues] == [("assistant", "ERROR")] * 3
    assert events == []


LOADED = """
    def pytest_unconfigure():
        import sys

        print("loaded:", [name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_a_run_without_an_sdk_loads_nothing_of_it(repo: Repository) -> None:
    repo.write(conftest=TOLD + LOADED)
    repo.run("--personalens-sample=1", "-s").stdout.fnmatch_lines(["loaded: *[[][]]"])
