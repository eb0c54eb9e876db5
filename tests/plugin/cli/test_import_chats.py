"""Drafts of tasks from stored dialogues: masked, checked, and without a sentence of the originals."""

from __future__ import annotations

import json

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository
from tests.support.servers.author import author
from tests.support.servers.endpoint import Endpoint, Reply

SAID = "Could I have my usual tablets for the trip to my sister ready by Friday at 17:30, please, for $12?"


def chat(*turns: object) -> str:
    roles = ("user", "assistant")
    return json.dumps({"messages": [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]})


def write(repo: Repository, *lines: str) -> None:
    (repo.path / "chats.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def drafts(repo: Repository) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in (repo.path / "own" / "drafts").iterdir()}


def test_without_a_model_a_draft_is_a_skeleton_that_copies_no_sentence(empty_repo: Repository) -> None:
    call = {"function": {"name": "order_refill", "arguments": '{"day": "Friday"}'}}
    messages = [
        {"role": "user", "content": SAID},
        {"role": "assistant", "content": "Done.", "tool_calls": [call]},
    ]
    write(empty_repo, chat(SAID, "Done."), "", json.dumps({"messages": messages}))
    result = empty_repo.command("import-chats", "chats.jsonl", "--out", "own")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["2 drafts in own/drafts; 0 left out"])
    found = drafts(empty_repo)
    assert sorted(found) == ["chat-0001.toml", "chat-0003.toml"]
    assert 'known = ["a day: Friday", "a time: 17:30", "a sum: $12"]' in found["chat-0001.toml"]
    assert 'goal = "TODO see line 1 of chats.jsonl"' in found["chat-0001.toml"]
    assert 'tools = ["order_refill"]' in found["chat-0003.toml"]
    assert "sister" not in "".join(found.values())


def test_what_a_log_may_hold_beside_a_dialogue_in_words(empty_repo: Repository) -> None:
    messages = [
        {"role": "assistant", "content": "Hello!\u2028How can I help?", "tool_calls": [{"name": "greet"}]},
        {"role": "function", "name": "lookup", "content": 7},
        {"role": "tool", "content": {"ok": True}},
        {"role": "user", "content": SAID},
        {"role": "user", "content": ["And ", {"type": "text", "text": "today."}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "order_refill"}}]},
    ]
    write(empty_repo, "\ufeff" + json.dumps({"messages": messages}, ensure_ascii=False))
    result = empty_repo.command("import-chats", "chats.jsonl", "--out", "own")
    result.stdout.fnmatch_lines(["1 draft in own/drafts; 0 left out"])
    draft = drafts(empty_repo)["chat-0001.toml"]
    assert 'known = ["a day: Friday", "a day: today", "a time: 17:30", "a sum: $12"]' in draft
    assert 'tools = ["greet", "order_refill"]' in draft


def test_a_draft_that_somebody_works_on_stays(empty_repo: Repository) -> None:
    write(empty_repo, chat(SAID, "Done."))
    result = empty_repo.command("import-chats", "chats.jsonl", "--out", "own")
    result.stdout.fnmatch_lines(["1 draft in own/drafts; 0 left out"])
    file = empty_repo.path / "own" / "drafts" / "chat-0001.toml"
    file.write_text("mine = 1\n", encoding="utf-8")
    empty_repo.command("import-chats", "chats.jsonl", "--out", "own")
    assert file.read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("Write to orla.quinn+rx@mail.example.ie, please.", "Write to [mail], please."),
        ("Call +353 87 123 4567 or (091) 555-0199.", "Call [phone] or [phone]."),
        ("Call 0871234567!", "Call [phone]!"),
        ("Card 4111 1111 1111 1111, 05/29.", "Card [card], 05/29."),
        ("Card 5500-0000-0000-0004.", "Card [card]."),
        ("From IE29 AIBK 9311 5212 3456 78 it goes.", "From [iban] it goes."),
        ("From DE89370400440532013000.", "From [iban]."),
        ("PL61 1090 1014 0000 0712 1981 2874 then, or IE29AIBK93115212345670.", "[iban] then, or IE29AIBK93115212345670."),
        ("I am ORLA quinn, Quinn's wife.", "I am [name], [name]'s wife."),
        ("Ask José or Ann.", "Ask [name] or [name]."),
        ("The annual joseph party of Quinnipiac.", "The annual joseph party of Quinnipiac."),
        ("On 2026-03-14 or 14.03.2026 at 17:30, for $1,200.", "On 2026-03-14 or 14.03.2026 at 17:30, for $1,200."),
        ("Order 123456, 2 x 500 mg, 90 days.", "Order 123456, 2 x 500 mg, 90 days."),
        ("Reference 4111 1111 1111 1112 fails the check.", "Reference 4111 1111 1111 1112 fails the check."),
    ],
)  # fmt: skip
def test_a_model_is_sent_what_is_masked(
    empty_repo: Repository, endpoint: Endpoint, said: str, sent: str
) -> None:
    (empty_repo.path / "names.txt").write_text("Orla Quinn\nQuinn\nJosé\nAnn\n\n", encoding="utf-8")
    endpoint.answer = author
    write(empty_repo, chat(said, f"You said: {said}"))
    result = empty_repo.command(
        "import-chats", "chats.jsonl", "--out=own", "--names=names.txt", "--model=openai:x"
    )
    assert result.ret == 0
    assert f"user: {sent}\nassistant: You said: {sent}\n" in endpoint.calls[0].prompt


def test_a_model_that_copies_is_asked_again_and_its_draft_is_masked_too(
    empty_repo: Repository, endpoint: Endpoint
) -> None:
    write(empty_repo, chat(SAID, "Done."))
    texts = {
        "description": "The user wants tablets.",
        "intent": "You want tablets.",
        "goal": "They are ordered.",
        "known": ["mail: a@b.ie"],
    }
    endpoint.replies = [
        Reply(json.dumps({**texts, "opening": opening})) for opening in (SAID, "Hello from me.")
    ]
    result = empty_repo.command("import-chats", "chats.jsonl", "--out=own", "--model=openai:x")
    assert (result.ret, len(endpoint.calls)) == (0, 2)
    assert (
        "- opening: it copies the dialogue: 'could i have my usual tablets for the'"
        in endpoint.calls[1].prompt
    )
    assert 'known = ["mail: [mail]"]' in drafts(empty_repo)["chat-0001.toml"]
    stored = (empty_repo.path / "own" / ".pieces" / "chat-0001.json").read_text(encoding="utf-8")
    assert "sister" not in stored


def test_a_draft_is_bought_once(empty_repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = author
    write(empty_repo, chat(SAID, "Done."), chat("And mine?", "Yes."))
    command = ("import-chats", "chats.jsonl", "--out=own", "--model=openai:x")
    empty_repo.command(*command, "--estimate").stdout.fnmatch_lines(["chat *2 *"])
    assert not endpoint.calls
    result = empty_repo.command(*command, "--budget=1calls", "--concurrency=1")
    assert result.ret == 4
    assert empty_repo.command(*command).ret == 0
    assert len(endpoint.calls) == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (chat("Hello?"), "line 2: messages: holds only messages of the user; a dialogue has both sides"),
        (chat("Hello?", " "), "line 2: messages: holds only messages of the user; a dialogue has both sides"),
        (chat([{"type": "image_url", "image_url": {"url": "x"}}], "A cat."), "line 2: messages.0.content: a part of the type 'image_url'; only text is read: *"),
        (chat(7, "A cat."), "line 2: messages.0.content: expected a text, found int"),
        ('{"turns": []}', "line 2: messages: expected a list of messages, *"),
        ('{"messages": ["hello"]}', "line 2: messages.0: expected a message of user, assistant or tool, found 'hello'"),
        ("[", "line 2: not valid JSON: *"),
    ],
)  # fmt: skip
def test_a_bad_dialogue_is_one_line_and_the_others_are_drafted(
    empty_repo: Repository, line: str, told: str
) -> None:
    write(empty_repo, chat(SAID, "Done."), line, chat([{"type": "text", "text": "Hello"}], "Hi."))
    result = empty_repo.command("import-chats", "chats.jsonl", "--out", "own")
    assert result.ret == 1
    result.stderr.fnmatch_lines([f"left out: chats.jsonl: {told}"])
    result.stdout.fnmatch_lines(["2 drafts in own/drafts; 1 left out"])
    assert len([line for line in result.errlines if line]) == 1


def test_a_model_that_never_drafts_is_listed(empty_repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply('{"goal": "x", "known": "much"}')
    write(empty_repo, chat(SAID, "Done."))
    result = empty_repo.command(
        "import-chats", "chats.jsonl", "--out=own", "--model=openai:x", "--attempts=2"
    )
    assert (result.ret, len(endpoint.calls)) == (1, 2)
    result.stderr.fnmatch_lines(["left out: chat-0001, after 2 attempts: description: expected a text; *"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no.jsonl", "--out=own"), "error: no.jsonl: cannot be read: No such file or directory"),
        (("empty.jsonl", "--out=own"), "error: empty.jsonl: no dialogue in it; *"),
        (("bad.jsonl", "--out=own"), "error: bad.jsonl: none of its 2 dialogues can be read; the first: line 1: messages: expected *"),
        (("one.jsonl", "--out=own"), "error: one.jsonl: line 1: not valid JSON: *"),
        (("chats.jsonl", "--out=own", "--names=no.txt"), "error: --names: no.txt cannot be read: *"),
        (("chats.jsonl", "--out=chats.jsonl"), "error: chats.jsonl/drafts: cannot be made: *"),
    ],
)  # fmt: skip
def test_a_bad_command_is_one_line(empty_repo: Repository, words: tuple[str, ...], told: str) -> None:
    for name, text in {"empty": "\n", "bad": '{"turns": []}\n7\n', "one": "x" * 9999}.items():
        (empty_repo.path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    write(empty_repo, chat(SAID, "Done."))
    result = assert_usage_error(empty_repo.command("import-chats", *words), told)
    assert len([line for line in result.errlines if line]) == 1
