"""Files of dialogues that cannot be judged: one line, with the file, the line or field, and what to do."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_one_line
from tests.support.repository import Repository

HELLO: Final = {"role": "user", "content": "Hello"}
REPLY: Final = {"role": "assistant", "content": "Hi"}
IMAGE: Final = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
CALL: Final = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
OWN: Final[dict[str, Any]] = {
    "preferences": {"Train": {}},
    "task": {"intent": "i", "goal": "g", "domains": ["Train"]},
}


def line(messages: object = (HELLO, REPLY), **fields: object) -> str:
    return json.dumps({"scenario": "movies-1-amara", "messages": messages, **fields}) + "\n"


def refused(repo: Repository, path: str, told: str, *more: str) -> None:
    """Check the one line that a run of stored dialogues ends with at once."""
    result = repo.inline(f"--personalens-dialogues={path}", "--personalens-gate=none", *more)
    assert_one_line(result, told.replace("[", "[[]"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "chats.jsonl: no dialogue in it; expected results, a record, an official dialogue, or a file .jsonl"),
        ("\n\n", "chats.jsonl: no dialogue in it; "),
        (line() + line()[:40], "line 2: not valid JSON: * the last line is cut off: write it again, or remove it"),
        ("{x}\n" + line(), "line 1: not valid JSON: Expecting property name*"),
        ("[" * 100_000, "line 1: not valid JSON: *"),
        ("[1]\n", "line 1: expected results, a record, *"),
        ('{"scenario": "movies-1-amara"}\n', "line 1: messages: expected a list of messages"),
        (line([]), "line 1: messages: expected a list of messages"),
        (line({"role": "user"}), "line 1: messages: expected a list of messages"),
        (line(["Hello"]), "line 1: messages.0: expected a message of user, assistant or tool, found 'Hello'"),
        (line([{"role": "bot", "content": "x"}]), "line 1: messages.0: expected a message of user, assistant or tool, found 'bot'"),
        (line([HELLO, HELLO]), "line 1: messages: holds only messages of the user; a dialogue has both sides"),
        (line([REPLY]), "line 1: messages: holds only messages of the assistant; a dialogue has both sides"),
        (line([{"role": "system", "content": "x"}]), "line 1: messages: holds no message of user or assistant; *"),
        (line([HELLO, REPLY, REPLY]), "line 1: messages.2: expected a message of the user, found one of the assistant; join messages *"),
        (line([{"role": "system", "content": "x"}, REPLY, HELLO]), "line 1: messages.1: expected a message of the user, found one of the assistant; a dialogue begins with the user: *"),
        (line([{"role": "tool", "content": "x"}, HELLO, REPLY]), "line 1: messages.0: expected a message of the user, found one of the tool; a dialogue begins with the user: *"),
        (line([{"role": "system", "content": "x"}, {"role": "assistant", "tool_calls": [CALL]}, HELLO, REPLY]), "line 1: messages.1: expected a message of the user, found one of the assistant; *"),
        (line([HELLO, {"role": "assistant", "tool_calls": [CALL]}, {"role": "tool", "content": "x"}, REPLY, REPLY]), "line 1: messages.4: *"),
        (line([HELLO, {"role": "assistant", "tool_calls": [CALL]}]), "line 1: messages: the assistant message after message 0 has no reply after it"),
        (line([HELLO, {"role": "assistant", "content": "x", "tool_calls": [{"type": "function"}]}]), "line 1: messages.1.tool_calls.0.function: field required"),
        (line([IMAGE, REPLY]), "line 1: messages.0.content: a part of the type 'image_url'; only text is read: *"),
        (line([{"role": "user", "content": 3}, REPLY]), "line 1: messages.0.content: expected a text, found int"),
        (line(end="soon"), "line 1: end: expected user, unserved, silence or limit, found 'soon'"),
        (line(scenario=None), "line 1: scenario: expected the id of a scenario, such as movies-1-amara, or a scenario of your own"),
        (line(scenario="movies-1-amar"), "line 1: scenario: unknown scenario 'movies-1-amar' of embedded *"),
        (line(scenario="movie-1-amara"), "line 1: scenario: unknown scenario 'movie-1-amara' of embedded *; did you mean 'movies-1-amara'?; *"),
        (line(scenario={**OWN, "task": {"intent": "i"}}), "line 1: scenario.task.goal: field required"),
        (line(scenario={**OWN, "preferences": {}}), "line 1: scenario.preferences: no preferences for 'Train'"),
        (line(id="a", scenario=OWN) + line(id="a", scenario={**OWN, "demographics": {"age": "3"}}), "line 2: scenario: another scenario has the user 'a' and the task 'train'; give it another id"),
        (line([HELLO, REPLY]).replace("scenario", "whole").replace('"movies-1-amara"', "{}"), "line 1: whole.id: field required"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be_judged(empty_repo: Repository, text: str, expected: str) -> None:
    (empty_repo.path / "chats.jsonl").write_text(text, encoding="utf-8")
    told = f"personalens: *chats.jsonl: *{expected.removeprefix('chats.jsonl: ')}*"
    refused(empty_repo, "chats.jsonl", told)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.json", "{}", "*x.json: expected results, a record, an official dialogue, or a file .jsonl *"),
        ("x.json", "{", "*x.json: not valid JSON: *"),
        ("x.json", '{"schema": "personalens-results/1"}', "*x.json: not a results file of this version: *"),
        ("x.json", '{"record": 2}', "*x.json: *the record cannot be read *"),
        ("x.json", '{"record": 1}', "*x.json: *the record is of version 0.2*personalens records FOLDER --write *"),
        ("x.json", '{"record": 3}', "*x.json: *the record is of a newer version (record 3); update the plugin*"),
        ("x.json", '{"user_id": 7, "dialogue": [], "task_id": "x"}', "*x.json: task_id: expected 'SD-<domain>-task-<n>' *"),
        ("x.json", '{"user_id": 7, "dialogue": [], "task_id": "SD-Train-task-1"}', "*x.json: dialogue: expected a list of messages, such as *"),
        ("folder/x.txt", "", "*folder: no dialogue in it; *"),
    ],
)  # fmt: skip
def test_files_that_hold_no_dialogue(empty_repo: Repository, name: str, content: str, expected: str) -> None:
    file = empty_repo.path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(content, encoding="utf-8")
    refused(empty_repo, name.partition("/")[0], expected)


def test_an_official_dialogue_of_nobody(empty_repo: Repository) -> None:
    write_data(empty_repo.path)
    dialogue = {"user_id": 8, "task_id": "MD-task-1", "dialogue": [HELLO, REPLY]}
    folder = empty_repo.path / "output" / "dialogue" / "user8" / "haiku"
    folder.mkdir(parents=True)
    (folder / "MD-task-1_dialogue.json").write_text(json.dumps(dialogue), encoding="utf-8")
    told = "*MD-task-1_dialogue.json: user_id, task_id: unknown scenario 'multi-1-user8' of official *"
    refused(empty_repo, "output", told, "--personalens-data=.")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        *((path, "no such file or folder, and no pattern of any") for path in ("chats.jsonl", "a*/b")),
        *((path, "cannot be read*") for path in ("x" * 300, "~nobody-at-all/x", "a**b/c")),
    ],
)
def test_no_such_path(empty_repo: Repository, path: str, told: str) -> None:
    refused(empty_repo, path, f"personalens: {path[:20]}*: {told}")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--personalens-assistant=a:b"], "--personalens-dialogues: not allowed with --personalens-assistant: nobody speaks in such a run"),
        (["--personalens-user-model=x"], "--personalens-dialogues: not allowed with --personalens-user-model: nobody speaks in such a run"),
        (["--personalens-trials=2"], "--personalens-dialogues: not allowed with --personalens-trials: nobody speaks in such a run"),
        (["--personalens-dialogues=*.jsonl"], "chats.jsonl: is named twice, and its dialogues would count twice; name it once"),
        (["--personalens-report=chats.jsonl.json", "--personalens-dialogues=chats.jsonl.json"], "--personalens-report: *is what --personalens-dialogues=chats.jsonl.json reads*"),
        (["--personalens-suite=personaconv"], "--personalens-dialogues: means nothing in the suite personaconv; leave it out"),
    ],
)  # fmt: skip
def test_options_that_mean_nothing_with_it(empty_repo: Repository, words: list[str], expected: str) -> None:
    (empty_repo.path / "chats.jsonl").write_text(line(), encoding="utf-8")
    refused(empty_repo, "chats.jsonl", f"*{expected}", *words)


@pytest.mark.parametrize(
    "option", ["gate=p >= 2", "save-baseline=b.json", "baseline=b.json", "check-judge=j.json"]
)
def test_generating_only_asks_for_no_scores(repo: Repository, option: str) -> None:
    run = ("--personalens-sample=1", "-opersonalens_generate_only=true", f"--personalens-{option}")
    told = "*personalens_generate_only: not allowed with *: nothing is judged in such a run*"
    assert_one_line(repo.inline(*run), told)
