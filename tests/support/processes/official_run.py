"""Runs the official code in a process of its own with a scripted model, and takes down its requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

#: What the models say in a dialogue, one call after the other.
SAID: Final = (
    "I need it.",
    "Which one?",
    "The first.\n[ASSISTANT]: Done.",
    "Well\nthen.",
    "TERMINATE",
    "You are welcome.",
)
READ: Final = (
    "VERDICT: True\nNaturalness Score: 4\nCoherence Score: 4\nPersonalization Score: 3\nJustification: so"
)

#: Stands in for boto3 and diskcache: every request goes into a file.
_STUBS: Final = {
    "boto3.py": (
        """
import io, json, os
class Client:
    def invoke_model(self, body, modelId):
        with open(os.environ["CALLS"], "a") as file:
            file.write(json.dumps(json.loads(body)) + "\\n")
        with open(os.environ["CALLS"]) as file:
            number = len(file.readlines()) - 1
        said = json.loads(os.environ["SAID"])
        text = said[number % len(said)]
        answer = {"content": [{"text": text}], "generation": text, "outputs": [{"text": text}]}
        return {"body": io.BytesIO(json.dumps(answer).encode())}
class Session:
    def client(self, *args, **kwargs):
        return Client()
"""
    ),
    "botocore/__init__.py": "",
    "botocore/exceptions.py": "class ClientError(Exception):\n    pass\n",
    "diskcache.py": "class Cache(dict):\n    def __init__(self, *args):\n        super().__init__()\n",
}


def official_requests(
    checkout: Path, folder: Path, module: str, *arguments: str, said: tuple[str, ...]
) -> list[dict[str, Any]]:
    """The bodies of the calls that a module of the official code makes for user7 of `folder`."""
    stubs, calls = folder / "stubs", folder / "calls.jsonl"
    for name, text in _STUBS.items():
        (stubs / name).parent.mkdir(parents=True, exist_ok=True)
        (stubs / name).write_text(text, encoding="utf-8")
    calls.write_text("", encoding="utf-8")
    paths = os.pathsep.join((str(stubs), str(checkout)))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "CALLS": str(calls),
        "SAID": json.dumps(said),
        "DATA_DIR": str(folder),
    }
    command = [sys.executable, "-m", module, "-s", "7", "-e", "7", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
