"""What the small commands print: ``show-prompts``, ``doctor`` and ``show``; and what any command refuses."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.results.values.results import write_json
from tests.engine.test_protocols_on_the_wire import MODELS, PROTOCOLS, RUN, answer
from tests.support.datasets.official_tree import write_code, write_data
from tests.support.processes.commands import refusal
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import ROOT, Repository
from tests.support.results.rich_results import rich_results
from tests.support.servers.endpoint import Endpoint, Reply


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of all that commands read, good and bad; no test here changes it."""
    folder = tmp_path_factory.mktemp("files")
    write_data(folder)
    write_code(folder)
    write_json(rich_results(4), folder / "now.json")
    shutil.copy(ROOT / "example_project" / "pharmacy" / "plan.toml", folder)
    (folder / "folder.md").mkdir()
    chat = '{"messages": [{"role": "user", "content": "Set my alarm."}, {"role": "assistant", "content": "Set."}]}'
    texts = {"chats": chat, "empty": "\n", "bad": '{"turns": []}\n7\n', "one": "x" * 9999}
    for name, text in texts.items():
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


_SHOWN = "show-prompts train-3-user7 --data ."
_MADE_BY = "give DOMAIN.toml with --model SPEC and --out FOLDER, or --by-hand FOLDER"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report", "the following arguments are required: RESULTS.json"),
        ("report rows", "rows: cannot be read"),
        ("report now.json --nonsense", "unrecognized arguments: --nonsense"),
        ("report now.json --report now.json/x.md", "--report: cannot write to now.json: "),
        ("report now.json --table 3 --report folder.md", "--report: folder.md is a folder; give the path of a file"),
        ("report now.json --table three", "argument --table: invalid int value: 'three'"),
        ("report now.json now.json now.json", "now.json: a report holds one run against another; for more of them give --table or --figure"),
        ("report now.json --figure 4 --kind both", "--kind: expected single, multi or all, not 'both'"),
        ("report now.json --kind all", "--kind: it is of --figure 4 and --figure 5; give one of them too"),
        ("report now.json --table 3 --figure 4", "--table, --figure: give one of them"),
        ("report now.json --table 8", "--table 8: not made of a run's results: personalens check-dataset DATA --table 8"),
        ("report now.json --table 6", "--table 6: not made of a run's results: personalens check-dataset DATA --table 6"),
        ("report now.json --table 5", "--table 5: not made of a run's results: personalens agreement LABELS.jsonl"),
        ("report now.json --table 2", "--table 2: expected 3, 4, 10, 12 or 13;"),
        ("report now.json --figure 3", "--figure 3: expected 4 or 5;"),
        ("report now.json --table 3 --report x.html", "--report: x.html would be of a run; tables are written to PATH.md"),
        ("comment now.json", "no CI service to comment with"),
        ("comment now.json --name '--> <script>'", "--name: expected"),
        ("show books-1-amara --results nowhere.json", "nowhere.json: cannot be read"),
        (f"{_SHOWN} --prompts nowhere", "*nowhere: no such folder of prompt templates"),
        (f"{_SHOWN} --prompts official:nowhere", "*/generate_dialogue.py: the file is missing"),
        (f"{_SHOWN} --prompts official:. --context DI", "personalens_context = DI: the official code crashes"),
        (f"{_SHOWN} --prompts official:. --official-bugs x", "*official_bugs: expected reproduce, mend, or the bugs to mend"),
        (f"{_SHOWN} --dimensions x", "unknown dimension 'x'"),
        ("show-prompts train-9-user7 --data .", "no scenario 'train-9-user7' in dataset 'official'; an id is that of a test item, such as books-1-user7"),
        ("build", _MADE_BY),
        ("build plan.toml", _MADE_BY),
        ("build no.toml --model=openai:x --out=o", "no.toml: the file is missing"),
        ("build plan.toml --model=me:x --out=o", "'me:x' is no model; give bedrock:MODEL or openai:MODEL"),
        ("build plan.toml --model=openai:x --out=plan.toml", "plan.toml/.pieces: cannot be made: "),
        ("build plan.toml --model=openai:x --out=o --budget=1usd", "--budget: no price is known for openai:x; give it with --price"),
        ("build --by-hand new", "--by-hand: add --domains 'Prescriptions' --people "),
        ("build --by-hand plan.toml --domains=A", "plan.toml"),
        ("build --by-hand new --domains=A --model=openai:x", "--by-hand: --model is of a dataset made by a model"),
        ("import-chats no.jsonl --out=o", "no.jsonl: cannot be read: No such file or directory"),
        ("import-chats empty.jsonl --out=o", "empty.jsonl: no dialogue in it; "),
        ("import-chats bad.jsonl --out=o", "bad.jsonl: none of its 2 dialogues can be read; the first: line 1: messages: expected "),
        ("import-chats one.jsonl --out=o", "one.jsonl: line 1: not valid JSON: "),
        ("import-chats chats.jsonl --out=o --names=no.txt", "--names: no.txt cannot be read: "),
        ("import-chats chats.jsonl --out=chats.jsonl", "chats.jsonl/drafts: cannot be made: "),
        ("from-chat chats.jsonl --out=o", "chats.jsonl: nothing that the user told before the incident"),
        ("from-chat chats.jsonl --out=o --person='Ada L'", "--person: expected small letters"),
        *((f"score {more}", "the following arguments are required: DIALOGUES, ") for more in ("", "--gate 'tcr >= 0.9'", "--sample=3 -- tests")),
        ("doctor", ""),
        ("doctor --user-model=me:x", ""),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("no_ci")
def test_what_cannot_be_done_is_refused_in_one_line(
    files: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:  # fmt: skip
    monkeypatch.chdir(files)
    before = sorted(files.rglob("*"))
    assert fnmatchcase(refusal(capsys, *shlex.split(words)), f"error: {said}*")
    assert (sorted(files.rglob("*")), endpoint.calls) == (before, []), "nothing was made or asked"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_show_prompts_prints_what_is_sent(
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
    for call in endpoint.calls:
        assert all(line in printed for line in call.system.splitlines())
        if call.model == "user":  # whose dialogue has come as far as the one that stands in
            assert re.sub(r"The words of the (\w+)\.", r"(what the \1 said)", call.prompt) in printed


def test_show_prompts_of_one_role_and_some_readings(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)

    def shown(options: str) -> list[str]:
        assert main([*_SHOWN.split(), *options.split()]) == 0
        return capsys.readouterr().out.splitlines()

    titles = [line for line in shown("--role judge --dimensions leak") if line.startswith("===")]
    how = "temperature 0, at most 4000 tokens, answered through a tool where the model has them"
    assert titles == [f"=== judge: opening leak ({how})"]
    assert "--- system" not in shown("--role assistant --assistant-prompt vanilla")
    state = shown("--role user --user-agent state")
    assert any('a line that begins with "Message:"' in line for line in state)


def test_the_doctor_says_what_a_model_can_do_and_costs(empty_repo: Repository, endpoint: Endpoint) -> None:
    form = Reply(data={"justification": "booked", "score": 4})
    endpoint.answer = lambda call: form if "tools" in call.body else Reply("Hello.", delay=0.1)
    models = ("--judge-model=openai:small", "--user-model=openai:none", "--price", "openai:small = 1, 2")
    head = "judge openai:small", "  form *is filled in, in *", "  text *'Hello.', *"
    judge = (*head, "  prompt *", "  side by side *")
    costs = "  a run of 30 *: $*", "user openai:none", "  a run of 30 *its price is not known; *"
    assert_ended(empty_repo.command("doctor", *models), 0, *judge, *costs)
    assert endpoint.most_in_flight == 2
    endpoint.answer = lambda call: Reply(status=401, code="bad", message="no such key")
    refused = empty_repo.command("doctor", "--judge-model=openai:small")
    assert_ended(refused, 1, "judge openai:small", "  no answer *no such key*")


SAMPLE = ("--personalens-sample", "3", "--personalens-gate", "none", "--personalens-report", "results.json")


def test_show_tells_any_item_of_the_last_run_or_of_stored_results(repo: Repository) -> None:
    assert_one_line(repo.command("show", "books-1-amara"), "no last run *; give --results PATH, *")
    assert_one_line(repo.command("records"), "no last run is kept in *; run the tests *")
    easy = ("-o", "personalens_threshold=tc>=0,p>=1")
    assert repo.run_with_cache(*SAMPLE, *easy, "-n", "1").ret == 0
    results = repo.results()
    for item in results["items"]:
        told = item["evaluation"]
        for wanted in (told["scenario"], item["nodeid"], item["nodeid"].split("::")[1]):
            shown = repo.command("show", wanted)
            assert (shown.ret, shown.outlines[0]) == (0, f"{item['nodeid']}: passed")
        text = " ".join(shown.stdout.str().split())
        said = [message["content"] for message in told["dialogue"]["messages"][:2]]
        assert all(" ".join(words.split()) in text for words in said)
        for verdict in told["verdicts"]:
            why = verdict["reasons"] or [{"type": verdict["justification"]}]
            assert any(" ".join(r["type"].removesuffix(" Preference").split()) in text for r in why)
    first, second = (item["evaluation"]["scenario"] for item in results["items"][:2])
    missed = f"no item {first[:-1]!r} among the 3 of *; did you mean {first!r}?"
    assert_one_line(repo.command("show", first[:-1]), missed)
    # The last run is that of the folder, or of one above.
    (repo.path / "sub").mkdir()
    os.chdir(repo.path / "sub")
    assert repo.command("show", first).ret == 0
    repo.pytester.chdir()
    assert repo.run_with_cache(*SAMPLE[:4], "-k", second).ret == 0
    assert repo.command("show", first).ret == 4, "the last run had another item alone"
    assert repo.command("show", first, "--results", "results.json").ret == 0
    (repo.path / "bare.json").write_text(json.dumps(results | {"scenarios": {}}), encoding="utf-8")
    bare = repo.command("show", first, "--results", "bare.json")
    assert_one_line(bare, "the results do not hold the scenario of *")
