"""What is to be known before a run: ``show-prompts`` prints what one sends, ``doctor`` tries a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_personalens.cli.command import main
from tests.engine.test_protocols_on_the_wire import MODELS, PROTOCOLS, RUN, answer
from tests.support.datasets.official_tree import write_code, write_data
from tests.support.processes.commands import refusal
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_data(tmp_path)
    write_code(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_prints_what_is_sent(
    empty_repo: Repository, endpoint: Endpoint, capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    endpoint.answer = answer
    write_data(empty_repo.path)
    write_code(empty_repo.path)
    empty_repo.inline(*RUN, *MODELS, *PROTOCOLS[protocol]).assert_outcomes(passed=1)
    capsys.readouterr()
    options = [word.replace("-opersonalens_", "--") for word in PROTOCOLS[protocol]]
    assert main(["show-prompts", "multi-1-user7", "--data", ".", *options]) == 0
    printed = capsys.readouterr().out
    stand_ins = {
        "The words of the user.": "(what the user said)",
        "The words of the assistant.": "(what the assistant said)",
    }
    for call in endpoint.calls:
        assert all(line in printed for line in call.system.splitlines())
        if call.model == "user":  # whose dialogue has come as far as the one that stands in
            prompt = call.prompt
            for said, shown in stand_ins.items():
                prompt = prompt.replace(said, shown)
            assert prompt in printed


def test_one_role_and_some_readings(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(options: str) -> list[str]:
        assert main(["show-prompts", "train-3-user7", "--data", ".", *options.split()]) == 0
        return capsys.readouterr().out.splitlines()

    titles = [line for line in shown("--role judge --dimensions leak") if line.startswith("===")]
    how = "temperature 0, at most 4000 tokens, answered through a tool where the model has them"
    assert titles == [f"=== judge: opening leak ({how})"]
    assert "--- system" not in shown("--role assistant --assistant-prompt vanilla")
    assert any(
        'a line that begins with "Message:"' in line for line in shown("--role user --user-agent state")
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["train-9-user7"], "no scenario 'train-9-user7' in dataset 'official'; an id is that of a test item, such as books-1-user7"),
        (["train-3-user7", "--prompts", "nowhere"], "nowhere: no such folder of prompt templates"),
        (["train-3-user7", "--prompts", "official:nowhere"], "generate_dialogue.py: the file is missing"),
        (["train-3-user7", "--prompts", "official:.", "--context", "DI"], "personalens_context = DI: the official code crashes"),
        (["train-3-user7", "--prompts", "official:.", "--official-bugs", "x"], "expected reproduce, mend, or the bugs to mend"),
        (["train-3-user7", "--dimensions", "x"], "unknown dimension 'x'"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_told_in_one_line(
    tree: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert problem in refusal(capsys, "show-prompts", *arguments, "--data", ".")


def test_the_doctor_says_what_a_model_can_do_and_costs(empty_repo: Repository, endpoint: Endpoint) -> None:
    form = Reply(data={"justification": "booked", "score": 4})
    endpoint.answer = lambda call: form if "tools" in call.body else Reply("Hello.", delay=0.1)
    price = "openai:small = 1, 2"
    result = empty_repo.command(
        "doctor", "--judge-model=openai:small", "--user-model=openai:none", "--price", price
    )
    told = [
        "  form *is filled in, in *",
        "  text *'Hello.', *",
        "  prompt *",
        "  side by side *",
        "  a run of 30 *: $*",
    ]
    result.stdout.fnmatch_lines(
        ["judge openai:small", *told, "user openai:none", "  a run of 30 *its price is not known; *"]
    )
    assert (result.ret, endpoint.most_in_flight) == (0, 2)
    endpoint.answer = lambda call: Reply(status=401, code="bad", message="no such key")
    refused = empty_repo.command("doctor", "--judge-model=openai:small")
    refused.stdout.fnmatch_lines(["judge openai:small", "  no answer *no such key*"])
    assert refused.ret == 1
    assert empty_repo.command("doctor").ret == empty_repo.command("doctor", "--user-model=me:x").ret == 4
