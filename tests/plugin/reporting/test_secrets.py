"""A key, a token or a password stands in no output, whoever repeats it."""

from __future__ import annotations

import base64
from collections import UserDict
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from pytest_personalens.core.safe_text import redact
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD
from tests.support.servers.endpoint import Endpoint, Reply

Patch = pytest.MonkeyPatch
KEY = "sk-proj-0123456789abcdef"
OUTPUTS = ("results.json", "page.html", "summary.md", "junit.xml")
RUN = (
    "--personalens-sample=1", "--personalens-kind=single", "--personalens-record=live", "--personalens-report", OUTPUTS[0],
    "--personalens-report", OUTPUTS[1], "--personalens-report", OUTPUTS[2], "--junitxml", OUTPUTS[3], "-rA", "-vv",
)  # fmt: skip


@pytest.fixture(autouse=True)
def cache_in_the_repository(repo: Repository, endpoint: Endpoint, monkeypatch: Patch) -> None:
    """The cache is searched too."""
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(repo.path / "cache"))


def assert_nothing_holds(secret: str, repo: Repository, result: pytest.RunResult) -> None:
    """Neither what a run printed nor a file that it left holds a secret, in any form."""
    left = [file for file in repo.path.rglob("*") if file.is_file() and file.suffix not in (".py", ".pyc")]
    assert len(left) >= len(OUTPUTS)
    texts = [str(result.stdout), str(result.stderr)]
    texts += [file.read_text(encoding="utf-8", errors="replace") for file in left]
    forms = (secret, quote(secret, safe=""), base64.b64encode(secret.encode()).decode())
    assert not [text for text in texts if any(form in text for form in forms)]


def test_a_key_with_a_line_break_works(repo: Repository, endpoint: Endpoint, monkeypatch: Patch) -> None:
    token = "FwoGZXIvYXdzEJr+/token=="
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA0123456789ABCDEF\n")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG\n")
    monkeypatch.setenv("AWS_SESSION_TOKEN", f"{token}\n")
    models = ("--personalens-user-model=bedrock:nova-lite", "--personalens-judge-model=openai:small")
    result = assert_ended(repo.run(*RUN, *models), 0)
    headers = {"openai": ("authorization", f"Bearer {KEY}"), "bedrock": ("x-amz-security-token", token)}
    sent = {call.protocol: call.headers[headers[call.protocol][0]] for call in endpoint.calls}
    assert sent == {protocol: value for protocol, (_, value) in headers.items()}
    assert_nothing_holds(KEY, repo, result)
    assert_nothing_holds(token, repo, result)


def test_a_key_that_no_header_can_hold_is_one_line_without_it(repo: Repository, monkeypatch: Patch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n{KEY}")
    result = repo.run(*RUN, "--personalens-user-model=openai:small")
    assert_one_line(result, "*OPENAI_API_KEY holds a line break*")
    assert_nothing_holds(KEY, repo, result)


@pytest.mark.parametrize("status", [307, 400, 401, 500])
def test_a_server_repeats_it(repo: Repository, endpoint: Endpoint, monkeypatch: Patch, status: int) -> None:
    key = f"{KEY}/+="
    monkeypatch.setenv("OPENAI_API_KEY", key)
    # Far enough into the message that the key is cut where the text is.
    message = f"Authorization: Bearer {key} and {quote(key, safe='')} {'x' * 205} {key}"
    elsewhere = {"Location": f"http://gateway/?key={quote(key, safe='')}"}
    endpoint.answer = lambda call: Reply(status=status, message=message, headers=elsewhere)
    monkeypatch.setattr("pytest_personalens.models.retry.FIRST_WAIT", 0.01)
    result = repo.inline(*RUN, "--personalens-judge-model=openai:small", "--personalens-gate=valid >= 0")
    assert "not scored: 1, the judge" in str(result.stdout)
    assert_nothing_holds(KEY, repo, result)


def test_a_provider_that_repeats_a_file(repo: Repository, endpoint: Endpoint, monkeypatch: Patch) -> None:
    token = "FwoGZXIvYXdzEJr-session-token"
    file = repo.path.parent / "credentials"
    keys = "aws_access_key_id = AKIA0123456789ABCDEF\naws_secret_access_key = wJalrXUtnFEMI"
    file.write_text(f"[default]\n{keys}\naws_session_token = {token}\n")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    bad = Reply(status=400, code="ValidationException", message=f"bad: {token}")
    endpoint.answer = lambda call: bad if call.headers["x-amz-security-token"] == token else Reply("unsigned")
    result = repo.run(*RUN, "--personalens-judge-model=bedrock:nova-lite", "--personalens-gate=valid >= 0")
    result.stdout.fnmatch_lines(["*Bedrock refuses the call: ValidationException: bad: ***"])
    assert_nothing_holds(token, repo, result)


@pytest.mark.parametrize("padding", [0, 250], ids=["whole", "cut"])
def test_an_assistant_whose_error_holds_a_secret(repo: Repository, monkeypatch: Patch, padding: int) -> None:
    monkeypatch.setenv("TICKETS_DB_PASSWORD", "correct-horse-battery")
    password = '__import__("os").environ["TICKETS_DB_PASSWORD"]'
    logs_in = f'def log_in(messages):\n    raise ConnectionError("cannot log in: " + {padding} * "x" + {password} + 500 * "y")\n'
    repo.bot('__import__("database").log_in(messages)', database=logs_in)
    result = repo.run(*RUN)
    result.stdout.fnmatch_lines(["*the assistant raised ConnectionError: cannot log in: *"])
    assert "correct-h" not in str(result.stdout), "it is not cut in two"
    assert_nothing_holds("correct-horse-battery", repo, result)


@pytest.mark.parametrize("where", ["spec", "escaped", "configuration", "environment"])
def test_a_password_in_a_url(repo: Repository, endpoint: Endpoint, monkeypatch: Patch, where: str) -> None:
    address = endpoint.url.replace("://", "://me:hunter2hunter2@") + "/v1"
    spec = "openai:small"
    if where == "environment":
        monkeypatch.setenv("OPENAI_BASE_URL", address)
    elif where == "configuration":
        repo.pytester.makeini(f"[pytest]\npersonalens_model_parameters = base_url = {address}\n")
    else:
        spec += f"?base_url={quote(address, safe='') if where == 'escaped' else address}"
    result = repo.run("--personalens-sample=1", "--personalens-record=live", "--personalens-user-model", spec)
    assert_one_line(result, "*leave it out, and set OPENAI_API_KEY*")
    assert "hunter2" not in str(result.stdout) + str(result.stderr)
    assert not endpoint.calls


def test_a_spec_of_a_plugin_that_holds_a_secret(repo: Repository, monkeypatch: Patch) -> None:
    monkeypatch.setenv("ACME_API_KEY", "acme-0123456789")
    repo.write(conftest=TOLD.replace('User() if spec == "told"', 'User() if spec.startswith("acme:")'))
    user = "--personalens-user-model=acme:x?key=acme-0123456789"
    result = repo.run(*RUN, user, "-opersonalens_threshold=p>=4")
    result.stdout.fnmatch_lines(["personalens: *user acme:x?key=****", "again: *acme:x?key=****"])
    assert_nothing_holds("acme-0123456789", repo, result)


#: A bot that calls a tool with its authorization, gets it back in the result, and says it.
TELLS = """
    import os

    def tells(messages):
        key = os.environ["OPENAI_API_KEY"]
        assert len(messages) == 1 or any(key in str(message) for message in messages), "its own words are its own"
        call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"auth": "Bearer ' + key + '"}'}}
        return [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "booked with " + key},
            {"role": "assistant", "content": "Booked for Friday at 19:30; your key is " + key + "."},
        ]
"""


def test_a_bot_that_tells_a_key_in_replies_and_tools(repo: Repository, monkeypatch: Patch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    repo.bot('__import__("mine").tells(messages)', mine=TELLS)
    run = [word for word in RUN if word != "--personalens-record=live"]
    assert_nothing_holds(KEY, repo, repo.run(*run, "--personalens-record=new", "--personalens-gate=none"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-another-key-of-today")
    again = repo.run("--personalens-sample=1", "--personalens-gate=none", "-v")
    again.stdout.fnmatch_lines(["records: 1 replayed"])


@pytest.mark.parametrize("where", ["query", "header"])
def test_a_key_in_the_address_or_a_header(repo: Repository, endpoint: Endpoint, where: str) -> None:
    key = "fake-in-an-ini-file-1"
    endpoint.answer = lambda call: Reply(status=401, message=f"bad key {key}")
    spec = f"http:{endpoint.url}/v1/chat/completions"
    if where == "query":
        spec += f"?api_key={key}"
    else:
        repo.pytester.makeini(f"[pytest]\npersonalens_assistant_headers = X-Api-Key: {key}\n")
    run = tuple(word for word in RUN if word != "--personalens-record=live")
    result = repo.run(*run, "--personalens-assistant", spec, "--personalens-gate=none")
    (repo.path / "tox.ini").unlink(missing_ok=True)
    result.stdout.fnmatch_lines(["*: 401: bad key *"])
    assert_nothing_holds(key, repo, result)


@pytest.mark.parametrize(
    ("host", "key", "refused"),
    [
        ("https://models.example.com/v1", "EMPTY", True),
        ("http://127.0.0.1:9/v1", "EMPTY", False), ("http://ollama:11434/v1", "ollama", False), ("http://10.1.2.3/v1", "x", False),
    ],
)  # fmt: skip
def test_short_keys(repo: Repository, monkeypatch: Patch, host: str, key: str, refused: bool) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", host)
    run = ("--personalens-sample=1", "--personalens-user-model=openai:x", "--personalens-record=live")
    assert repo.inline(*run, "--collect-only").ret == 0
    if refused:
        short = f"openai:x: OPENAI_API_KEY has {len(key)} characters: *"
        assert_one_line(repo.inline(*run), short)


def test_a_variable_that_goes_while_they_are_read_breaks_nothing(monkeypatch: Patch) -> None:
    """pytest removes ``PYTEST_CURRENT_TEST`` in its own thread, while dialogues run in others."""

    class Changing(UserDict[str, str]):
        def __iter__(self) -> Iterator[str]:
            yield from ("GONE_API_KEY", *self.data)

    monkeypatch.setattr("os.environ", Changing({"SOME_API_KEY": "correct-horse"}))
    assert redact("it is correct-horse, correct-horse") == "it is ***, ***"
