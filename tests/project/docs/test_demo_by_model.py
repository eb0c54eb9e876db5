"""``make demo-model``: dialogues whose user and judge were a model, replayed without a key."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.support.repository import ROOT

_MAKE = (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("bot", "code", "said"),
    [
        ("remembers", 0, "gate p: passed, mean personalization 2.43"),
        ("forgets", 1, "gate p: FAILED, mean personalization 1.70"),
    ],
)
def test_the_demo_by_a_model_is_replayed(bot: str, code: int, said: str) -> None:
    (recipe,) = [line.strip() for line in _MAKE.splitlines() if "pytest by_model/" in line]
    (model,) = [line.partition(":= ")[2] for line in _MAKE.splitlines() if line.startswith("MODEL :=")]
    words = shlex.split(recipe.replace("$(MODEL)", model).replace("$(or $(HELPBOT),remembers)", bot))
    options = words[words.index("pytest") + 1 :]
    environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=ROOT / "example_project", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    assert said in done.stdout
    assert "records: 30 replayed" in done.stdout or bot == "remembers"
    if bot == "forgets":
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (shown,) = re.findall(r"```text\n((?:E   .*\n)+)([^`]+)```", readme)
        assert [part for part in shown if part not in done.stdout] == []
