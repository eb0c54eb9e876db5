"""Gates, reports and exit statuses, with and without workers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import jsonschema
import pydantic
import pytest

from pytest_personalens.results.values.results import json_schema
from tests.support.processes.runs import assert_ended, collect_ids
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import BY_DOMAIN, TOLD_AGENTS

ARGS = ("--personalens-sample=20", *TOLD_AGENTS)


@pytest.fixture
def scripted(repo: Repository) -> Repository:
    repo.write(conftest=BY_DOMAIN)
    return repo


def test_low_items_are_listed_and_fail_unless_a_gate_decides(scripted: Repository) -> None:
    args, floors = ("--personalens-sample=48", *ARGS[1:]), ("tcr >= 0.2", "p >= 1.5")
    gates = tuple(f"--personalens-gate={floor}" for floor in floors)
    lines = ("below the threshold*:", "  *: task not completed, p 1 < 2", "  and * more (-v lists them all)")
    passed = "gate tcr: passed, task completion rate * >= 0.20 over 48 scenarios"
    result = assert_ended(scripted.inline(*args, *gates), 0, *lines, passed)
    result.assert_outcomes(passed=51)
    assert result.stdout.str().count("task not completed") == 20
    low = scripted.inline(*args, *gates, "-v").stdout.str().count("task not completed")
    assert low > 20
    result = scripted.inline(*args)
    assert result.ret == 1
    result.assert_outcomes(failed=low, passed=48 - low)
    # The items and the gate on the share of them that could be scored.
    scripted.inline(*ARGS, "--personalens-gate=valid >= 0.9").assert_outcomes(passed=21)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_missed_gate_is_seen_everywhere(scripted: Repository, workers: tuple[str, ...]) -> None:
    args = (*ARGS, "--personalens-gate=p >= 3.9", "--junitxml", "junit.xml")
    result = assert_ended(scripted.run(*args, *workers), 1, "FAILED personalens::gate[[]p[]]*")
    result.assert_outcomes(passed=21, failed=1)
    cases = {c.get("name"): c for c in ET.parse(scripted.path / "junit.xml").iter("testcase")}
    assert cases["gate[p]"].find("failure") is not None
    assert cases["gate[valid]"].find("failure") is None
    item = next(c for name, c in cases.items() if name and name.startswith("test_bot["))
    properties = {p.get("name"): p.get("value") for p in item.iter("property")}
    assert properties.keys() == {"personalens_task_completion", "personalens_personalization"}
    assert "100%" in result.stdout.str()


@pytest.mark.slow
def test_the_json_follows_the_published_schema(scripted: Repository) -> None:
    published = json.loads((ROOT / "docs/reference/results.schema.json").read_text(encoding="utf-8"))
    if tuple(map(int, pydantic.VERSION.split(".")[:2])) >= (2, 13):  # older ones word it otherwise
        assert published == json_schema(), "run: make reference"
    (scripted.path / "faults.txt").write_text("\n".join(collect_ids(scripted, *ARGS)[:4]))
    args = ("--personalens-gate=p >= 2", "--personalens-dimensions=all", "--personalens-report=results.json")
    scripted.inline(*ARGS, *args)
    data = scripted.results()
    jsonschema.validate(data, published)
    assert data["schema"] == "personalens-results/2"
    assert (len(data["items"]), data["uncounted"]) == (20, {"judge": 4})
    assert {g["name"] for g in data["gates"]} == {"p", "valid"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**data, "items": [{}]}, published)


@pytest.mark.slow
def test_a_report_that_cannot_be_sent_never_leaves_a_green_run(scripted: Repository) -> None:
    # xdist 3.8 prints INTERNALERROR and exits with 0 when this befalls the last item of a worker.
    scripted.write(
        test_bot="""
        from decimal import Decimal

        def test_bot(personalens, record_property, request):
            personalens.evaluate()
            request.node.user_properties.append(("own", Decimal(1)))
        """
    )
    for size in ("1", "2", "4"):
        result = scripted.run("--personalens-sample", size, *ARGS[1:], "-n", "2")
        assert result.ret != 0, size


@pytest.mark.parametrize("extra", [("-x",), ("--maxfail", "1", "-n", "2")])
def test_a_run_that_stops_early_gates_nothing(scripted: Repository, extra: tuple[str, ...]) -> None:
    low = "assert personalens.evaluate().personalization > 2"
    scripted.write(test_bot=f"def test_bot(personalens):\n    {low}\n")
    result = scripted.run(*ARGS, "--personalens-gate=p >= 1", "--personalens-report=results.json", *extra)
    assert result.ret in (1, 2)
    result.stdout.fnmatch_lines(["overall *"])
    assert 1 <= len(scripted.results()["items"]) < 20
    assert scripted.results()["gates"] == []
    result.stdout.no_fnmatch_line("gate *")


HOOKS = """
    import pytest
    from pytest_personalens import Answer, FakeModel
    from pytest_personalens.datasets import EmbeddedDataset

    def echo(request):
        if "Score:" in request.system:
            score = "true" if "completed" in request.prompt else "3"
            text = f'Evidence: turn 1: "fine"\\nJustification: as asked\\nScore: {score}'
            return Answer(text=text, input_tokens=100, output_tokens=10)
        ends = " TERMINATE" * ("<transcript>" in request.prompt)
        return Answer(text="Please book it." + ends, input_tokens=50, output_tokens=5)

    class Small(EmbeddedDataset):
        def __init__(self):
            super().__init__()
            self.name, self.users = "small", lambda: ("kenji", "nia")

    def pytest_personalens_model(spec, config):
        return FakeModel(echo, name=spec) if spec.startswith("echo:") else None

    def pytest_personalens_dataset(spec, config):
        return Small() if spec == "small" else None

    def pytest_personalens_evaluated(item, scenario, evaluation):
        with open("seen.txt", "a") as file:
            file.write(f"{scenario.id} {evaluation.personalization}\\n")

    def pytest_personalens_report_lines(results, config):
        return [f"shared with the team: {results.overall.items} items"]

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "fine"
"""
#: A run with everything that `HOOKS` adds.
ECHO = ("--personalens-sample", "4", "--personalens-data", "small", "--personalens-user-model", "echo:small", "--personalens-judge-model", "echo:small")  # fmt: skip


def test_the_hooks(repo: Repository) -> None:
    repo.write(conftest=HOOKS)
    result = repo.inline(*ECHO)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        [
            "personalens: 4 scenarios of small 3.*user echo:small, judge echo:small",
            "dialogues: 2.0 user turns on average; 16 model calls",
            "all  *16 *1,200 * 120 *",
            "shared with the team: 4 items",
        ]
    )
    seen = (repo.path / "seen.txt").read_text().splitlines()
    assert len(seen) == 4
    assert all(line.endswith(" 3") and line.split()[0].split("-")[-1] in ("kenji", "nia") for line in seen)
