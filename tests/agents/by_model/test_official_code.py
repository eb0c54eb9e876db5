"""What is sent and read by the official prompts, to the byte against what the official code of a checkout sends and reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_personalens import FakeModel, Request, Scenario
from pytest_personalens.agents.by_model.official_prompts import (
    OfficialAssistant,
    OfficialJudge,
    OfficialPrompts,
    OfficialUserAgent,
    read_checkout,
    read_official,
)
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message, converse
from pytest_personalens.core.judging.verdict import READINGS, Dimension
from pytest_personalens.datasets import open_dataset
from pytest_personalens.models.meter import Meter
from tests.agents.by_model.test_official_prompts import ANSWERS
from tests.support.datasets.official_tree import write_data
from tests.support.processes.official_run import READ, SAID, official_requests

FLAGS: Final = {"": (), "D": ("-d",), "I": ("-p",), "S": ("-si",), "DIS": ("-d", "-p", "-si")}
MODELS: Final = ("claude-3-sonnet-v1", "llama-3-1-8b-instruct-v1", "mixtral-8x7b-instruct-v1")
#: The names of the readings on the command line of the official code.
NAMED: Final = dict(zip(READINGS, ("task_completion", "personalization", *("naturalness",) * 2, *("coherence",) * 2), strict=True))  # fmt: skip


@pytest.fixture(scope="module")
def checkout() -> Path:
    path = Path(os.environ.get("PERSONALENS_OFFICIAL", "nowhere")).resolve()
    if not (path / "src" / "generate_dialogue.py").is_file():
        pytest.skip(
            "the official PersonaLens code is not at hand (set PERSONALENS_OFFICIAL to a checkout of it)"
        )
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_data(tmp_path)
    return tmp_path


def scenarios(data: Path, kind: str) -> list[Scenario]:
    dataset = open_dataset(str(data))
    return [dataset.load(ref) for ref in dataset.refs("user7") if ref.kind == kind]


def sent(body: dict[str, Any]) -> tuple[Any, ...]:
    """System text, prompt, temperature and limit of a body, of whichever family."""
    if "messages" in body:
        text = body["messages"][0]["content"][0]["text"]
        return body["system"], text, body["temperature"], body["max_tokens"]
    text, how = body["prompt"], (body["temperature"], body.get("max_gen_len", body.get("max_tokens")))
    if text.startswith("<s>[INST]"):
        return "", text.removeprefix("<s>[INST]").removesuffix("[/INST]"), *how
    _, *said, _ = text.split("<|end_header_id|>")
    return *(one[2:].partition("<|eot_id|>\n")[0] for one in said), *how


@pytest.mark.parametrize("kind", ["single", "multi"])
@pytest.mark.parametrize("context", FLAGS)
@pytest.mark.parametrize("model", MODELS)
def test_dialogues_send_equal_bytes(checkout: Path, data: Path, model: str, context: str, kind: str) -> None:
    module = "src.generate_dialogue" if kind == "single" else "src.generate_dialogue_md"
    theirs = official_requests(checkout, data, module, "-m", model, *FLAGS[context], said=SAID)
    requests: list[Request] = []

    def answer(request: Request) -> str:
        requests.append(request)  # of every role; answered from one list over and over, as there
        return SAID[(len(requests) - 1) % len(SAID)]

    prompts, meter = OfficialPrompts(read_checkout(checkout)), Meter()
    names = ("bedrock:claude-3-sonnet-v1", f"bedrock:{model}")
    plays, answers = (FakeModel(answer, name=name) for name in names)
    for scenario in scenarios(data, kind):
        knows = scenario.context(context)
        assistant = OfficialAssistant(answers, meter, prompts, setting="base", context=knows)
        converse(scenario, assistant, OfficialUserAgent(plays, meter, prompts))
    ours = [(r.system, r.prompt, r.temperature, r.max_tokens) for r in requests]
    if model.startswith("mixtral"):  # the official code puts the system text before the prompt
        ours = [(s, p, t, n) if n_ % 2 == 0 else ("", s + p, t, n) for n_, (s, p, t, n) in enumerate(ours)]
    assert ours == [sent(body) for body in theirs]


@pytest.mark.parametrize("kind", ["single", "multi"])
@pytest.mark.parametrize("dimension", READINGS)
def test_readings_send_equal_bytes(checkout: Path, data: Path, dimension: Dimension, kind: str) -> None:
    talk = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(SAID[:4])]
    folder = data / "output" / "dialogue" / "user7" / MODELS[0]
    folder.mkdir(parents=True)
    for name in ("tasks", "tasks_md"):
        tasks = json.loads((data / f"data/profile/user7/{name}.json").read_text(encoding="utf-8"))
        for task in (one["task_id"] for one in tasks.values()):
            dialogue = json.dumps({"task_id": task, "dialogue": talk})
            (folder / f"{task}_dialogue.json").write_text(dialogue, encoding="utf-8")
    flags = ("-md",) * (kind == "multi") + ("-a",) * dimension.value.endswith("assistant")
    arguments = ("-m", MODELS[0], "-d", NAMED[dimension], *flags)
    theirs = official_requests(checkout, data, "src.evaluate_dialogue", *arguments, said=(READ,))
    model = FakeModel(READ, name="bedrock:judge")
    judge = OfficialJudge(model, Meter(), OfficialPrompts(read_checkout(checkout)))
    for scenario in scenarios(data, kind):
        judge.verdict(scenario, Dialogue(messages=tuple(Message(**m) for m in talk)), dimension)
    ours = [(r.system, r.prompt, r.temperature, r.max_tokens) for r in model.requests]
    assert ours == [sent(body) for body in theirs]


#: Prints what the official code makes of the answers in the working directory.
_GATHER: Final = """
import json
from util.gather_evaluation import analyze_quality_ratings as scores, analyze_task_completion_ratings as verdicts
print("@", json.dumps([verdicts([7], ".", "a", "j")["tc_rate"],
    scores([7], ".", "a", "j", "Personalization Score", "Justification", "personalization", "")["raw_data"]["coherence_ratings"]]))
"""


@pytest.mark.parametrize("answer", [a[1] for a in ANSWERS if a[0] in READINGS[:2]])
def test_answers_are_read_alike(checkout: Path, tmp_path: Path, answer: str) -> None:
    for name in ("task_completion", "personalization"):
        folder = tmp_path / "user7" / "a" / name / "j"
        folder.mkdir(parents=True)
        (folder / "SD-Books-task-1.txt").write_text(answer, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _GATHER], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(checkout)}, capture_output=True, text=True, check=True
    )  # fmt: skip
    rate, scores = json.loads(done.stdout.rpartition("@")[2])
    assert read_official(answer, Dimension.TASK_COMPLETION, 1).score == rate
    try:
        ours = [read_official(answer, Dimension.PERSONALIZATION, 1).score]
    except ValueError as error:
        ours = [7] if "found 7" in str(error) else []  # off the scale, it is counted there and refused here
    assert ours == scores
