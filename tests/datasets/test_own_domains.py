"""A folder with its own domains, and a dataset offered under a name: used by both agents, and checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_personalens import Dimension, Message, Scenario
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.datasets import EmbeddedDataset, open_dataset
from tests.support.datasets.dinner import dialogue
from tests.support.datasets.folders import write_own_domains
from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply

#: The conftest of a dataset with one person, who is asked about an invoice.
HOOK = """
    import pytest
    from pytest_personalens import Scenario, ScenarioRef, Situation, Task

    class Support:
        name, version = "support", "3"
        def domains(self): return DOMAINS
        def users(self): return ("acme",)
        def refs(self, user): return [ScenarioRef(user, "billing-1", KIND, ("Billing",))]
        def load(self, ref):
            return Scenario(
                id=ref.id, user=ref.user, dataset="support 3", kind="single", domains=ref.domains, demographics={"plan": "enterprise"},
                preferences={"Billing": {"Invoice Format": ("PDF",)}}, summaries=SUMMARIES,
                situation=Situation(location="office", device="Kiosk", time_of_day="Morning", day_of_week="Monday", environment="Quiet"),
                task=Task(id=ref.task, description="d", intent="You want the invoice.", goal="It is sent.", relevant=(("Billing", "Invoice Format"),)),
            )

    def pytest_personalens_dataset(spec, config):
        return Support() if spec == "support" else None

    DOMAINS, KIND = ("Billing",), "single"
    SUMMARIES = {"Billing": "They asked twice for the invoice by mail, and once more in March."}
"""
BOT = """
    import pytest

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: "Done."
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return write_own_domains(tmp_path / "own")


def of(own: Path, task: str) -> Scenario:
    dataset = open_dataset(str(own))
    found: Scenario = dataset.load(next(ref for ref in dataset.refs("orla") if ref.task == task))
    return found


def answer(scenario: Scenario, question: str) -> str:
    user = EmbeddedUserAgent()
    opening = Message(role="user", content=user.turn(scenario, ()).content)
    return user.turn(scenario, (opening, Message(role="assistant", content=question))).content


def test_the_files_are_the_domains(own: Path) -> None:
    assert EmbeddedDataset().domains() == DOMAINS
    dataset = open_dataset(str(own))
    assert dataset.domains() == ("Pharmacy", "Tool Library")
    assert [ref.task for ref in dataset.refs("orla")] == ["pharmacy-1", "tool-library-1", "multi-1"]
    (own / "multi.toml").unlink()
    assert [ref.kind for ref in open_dataset(str(own)).refs("orla")] == ["single", "single"]


def test_scenarios_carry_the_words_of_their_domains(own: Path) -> None:
    embedded = EmbeddedDataset()
    types = embedded.load(embedded.refs("amara")[0]).words["Alarm"].types
    assert types["Alarm Recurring Preference"].synonyms["every day"][0] == "daily"
    assert of(own, "multi-1").words["Tool Library"].types["Power"].ask == ("how is it driven", "power")
    assert "words" in of(own, "multi-1").model_dump()


@pytest.mark.parametrize(
    ("task", "question", "wanted"),
    [
        ("pharmacy-1", "How do you get it?", "pick-up"),
        ("tool-library-1", "How is it driven?", "cordless"),
        ("multi-1", "For how long is the ladder?", "two days"),
        ("tool-library-1", "I've booked the petrol drill for two days, from Monday.", "cordless"),
    ],
)
def test_the_user_understands_the_folders_words(own: Path, task: str, question: str, wanted: str) -> None:
    scenario = of(own, task)
    assert wanted in answer(scenario, question).lower()
    assert wanted not in answer(scenario.model_copy(update={"words": {}}), question).lower()


def test_the_judge_understands_the_folders_words(own: Path) -> None:
    scenario = of(own, "tool-library-1")
    replies = dialogue(
        "I want to borrow a drill for some shelves.", "I've booked the petrol drill for you, from Monday."
    )
    for one, types in ((scenario, ["Power"]), (scenario.model_copy(update={"words": {}}), [])):
        verdict = EmbeddedJudge().verdict(one, replies, Dimension.PERSONALIZATION)
        assert [r.type for r in verdict.reasons if r.code == "contradicts"] == types


def test_a_folder_is_run_and_checked(empty_repo: Repository) -> None:
    write_own_domains(empty_repo.path / "own")
    empty_repo.write(conftest=BOT)
    run = empty_repo.inline("--personalens-sample=9", "--personalens-data=own", "--personalens-gate=none")
    assert_ended(run, 0, "personalens: 6 scenarios of errands 1*", "Pharmacy *4*", "Tool Library *4*")
    lines = ("users *2", "tasks *2, 1", "scenarios *6", "errands 1: no findings *")
    assert_ended(empty_repo.command("check-dataset", "own"), 0, *lines)


SITUATION = HOOK[HOOK.index("situation=") : HOOK.index("task=Task")]
ASKED = (
    "--personalens-user-model=openai:user", "--personalens-judge-model=openai:judge", "--personalens-assistant=openai:bot",
    "--personalens-dimensions=p", "--personalens-record=live",
)  # fmt: skip


@pytest.mark.parametrize(
    ("situation", "shown"),
    [
        ("", "- situation: unknown"),
        ('situation=Situation(location="the office"), ', "- location: the office"),
    ],
)
def test_a_situation_may_be_absent_in_whole_or_in_part(
    empty_repo: Repository, endpoint: Endpoint, situation: str, shown: str
) -> None:
    empty_repo.write(conftest=HOOK.replace(SITUATION, situation) + BOT)
    checked = ("*support 3 *goal", "support 3: no findings *")
    assert_ended(empty_repo.command("check-dataset", "support"), 0, *checked)
    run = ("--personalens-sample=1", "--personalens-data=support", "--personalens-gate=valid >= 1")
    assert empty_repo.inline(*run).ret == 0
    verdict = 'Evidence: turn 1: "Sent."\nJustification: so\nScore: 3'
    said = {"user": "Thanks. TERMINATE", "judge": verdict, "bot": "Sent."}
    endpoint.answer = lambda call: Reply(said[call.body["model"]])
    assert empty_repo.inline(*run, *ASKED).ret == 0
    prompts = {call.body["model"]: call.prompt for call in endpoint.calls}
    assert shown in prompts["user"]
    assert shown in prompts["judge"]
    told = next(call for call in endpoint.calls if call.body["model"] == "bot").body["messages"][0]["content"]
    assert ("the office" in told) == bool(situation)
    assert "unknown" not in told


def test_a_mistake_of_the_hook_ends_the_run_and_is_found(empty_repo: Repository) -> None:
    """Each mistake has a row in test_wrong_values.py."""
    empty_repo.write(conftest=HOOK.replace('KIND = ("Billing",)', 'KIND = ("Refunds",)'))
    told = "dataset Support: refs('acme'): domains of billing-1: 'Billing' is not among domains(): Refunds"
    run = empty_repo.inline("--personalens-sample=1", "--personalens-data=support")
    assert_usage_error(run, f"ERROR: *{told}*")
    assert_ended(empty_repo.command("check-dataset", "support"), 1, f"  {told}*")


@pytest.mark.parametrize(
    ("conftest", "told"),
    [
        (BOT, "suport: no such folder; give 'embedded', a data folder, or a name that the hook pytest_personalens_dataset knows"),
        ("import nope\n", "the dataset 'suport' cannot be had: pytest cannot start here: ModuleNotFoundError: No module named 'nope'"),
        ("def pytest_personalens_dataset(spec): raise OSError('no disk')", "the dataset 'suport' cannot be had: OSError: no disk"),
        ("def pytest_personalens_dataset(spec): return 3", "dataset int: name: expected a text"),
    ],
)  # fmt: skip
def test_what_nobody_offers_is_one_line(empty_repo: Repository, conftest: str, told: str) -> None:
    empty_repo.write(conftest=conftest)
    checked = assert_usage_error(empty_repo.command("check-dataset", "suport"))
    assert [line for line in checked.errlines if line] == [f"error: {told}"]
