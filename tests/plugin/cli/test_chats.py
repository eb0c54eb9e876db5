"""What is made of a team's chats: drafts of tasks (``import-chats``), and a red test of a bad one (``from-chat``)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository
from tests.support.servers.author import author
from tests.support.servers.endpoint import Endpoint, Reply

SAID = "Could I have my usual tablets for the trip to my sister ready by Friday at 17:30, please, for $12?"
IMPORT = ("import-chats", "chats.jsonl", "--out=own")
FROM_CHAT = ("from-chat", "chats.jsonl", "--out=own")
MODEL = "--model=openai:x"
TOLD = "I start at 8 now, so wake me at 6:40 on workdays. Mail ada@example.com if that fails."


def chat(*turns: object) -> str:
    roles = ("user", "assistant")
    return json.dumps({"messages": [{"role": roles[n % 2], "content": turn} for n, turn in enumerate(turns)]})


def write(repo: Repository, *lines: str) -> None:
    (repo.path / "chats.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def drafts(repo: Repository) -> dict[str, str]:
    return {file.name: file.read_text(encoding="utf-8") for file in (repo.path / "own" / "drafts").iterdir()}


def test_without_a_model_a_draft_is_a_skeleton_that_copies_no_sentence(empty_repo: Repository) -> None:
    messages = [
        {"role": "assistant", "content": "Hello!\u2028How can I help?", "tool_calls": [{"name": "greet"}]},
        {"role": "function", "name": "lookup", "content": 7},
        {"role": "tool", "content": {"ok": True}},
        {"role": "user", "content": SAID},
        {"role": "user", "content": ["And ", {"type": "text", "text": "today."}]},
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "order_refill"}}]},
    ]
    of_all_kinds = json.dumps({"messages": messages}, ensure_ascii=False)
    write(empty_repo, "\ufeff" + chat(SAID, "Done."), "", of_all_kinds)
    assert_ended(empty_repo.command(*IMPORT), 0, "2 drafts in own/drafts; 0 left out")
    found = drafts(empty_repo)
    for name, *lines in (
        ("chat-0001.toml", 'known = ["a day: Friday", "a time: 17:30", "a sum: $12"]', 'goal = "TODO see line 1 of chats.jsonl"'),
        ("chat-0003.toml", '"a day: Friday", "a day: today", "a time: 17:30"', 'tools = ["greet", "order_refill"]'),
    ):  # fmt: skip
        text = found.pop(name)
        assert all(line in text for line in lines) and "sister" not in text
    assert not found
    (empty_repo.path / "own" / "drafts" / "chat-0001.toml").write_text("mine = 1\n", encoding="utf-8")
    empty_repo.command(*IMPORT)
    assert drafts(empty_repo)["chat-0001.toml"] == "mine = 1\n", "somebody works on it"


MASKED = (
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
)  # fmt: skip


def test_a_model_is_sent_what_is_masked(empty_repo: Repository, endpoint: Endpoint) -> None:
    (empty_repo.path / "names.txt").write_text("Orla Quinn\nQuinn\nJosé\nAnn\n\n", encoding="utf-8")
    endpoint.answer = author
    write(empty_repo, *(chat(said, f"You said: {said}") for said, _ in MASKED))
    assert empty_repo.command(*IMPORT, MODEL, "--names=names.txt").ret == 0
    prompts = "\n".join(call.prompt for call in endpoint.calls)
    for _, sent in MASKED:
        assert f"user: {sent}\nassistant: You said: {sent}\n" in prompts


def test_a_model_that_copies_is_asked_again(empty_repo: Repository, endpoint: Endpoint) -> None:
    write(empty_repo, chat(SAID, "Done."))
    texts = {"description": "The user wants tablets.", "intent": "You want tablets.", "goal": "Done."}
    draft = texts | {"known": ["mail: a@b.ie"]}
    endpoint.replies = [Reply(json.dumps(draft | {"opening": said})) for said in (SAID, "Hello from me.")]
    assert (empty_repo.command(*IMPORT, MODEL).ret, len(endpoint.calls)) == (0, 2)
    copied = "- opening: it copies the dialogue: 'could i have my usual tablets for the'"
    assert copied in endpoint.calls[1].prompt
    assert 'known = ["mail: [mail]"]' in drafts(empty_repo)["chat-0001.toml"]
    stored = (empty_repo.path / "own" / ".pieces" / "chat-0001.json").read_text(encoding="utf-8")
    assert "sister" not in stored


def test_a_draft_is_bought_once(empty_repo: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = author
    write(empty_repo, chat(SAID, "Done."), chat("And mine?", "Yes."))
    empty_repo.command(*IMPORT, MODEL, "--estimate").stdout.fnmatch_lines(["chat *2 *"])
    assert not endpoint.calls
    assert empty_repo.command(*IMPORT, MODEL, "--budget=1calls", "--concurrency=1").ret == 4
    assert (empty_repo.command(*IMPORT, MODEL).ret, len(endpoint.calls)) == (0, 2)


NOT_READ = (
    (chat("Hello?"), "messages: holds only messages of the user; a dialogue has both sides"),
    (chat("Hello?", " "), "messages: holds only messages of the user; a dialogue has both sides"),
    (chat([{"type": "image_url", "image_url": {"url": "x"}}], "A cat."), "messages.0.content: a part of the type 'image_url'; only text is read: *"),
    (chat(7, "A cat."), "messages.0.content: expected a text, found int"),
    ('{"turns": []}', "messages: expected a list of messages, *"),
    ('{"messages": ["hello"]}', "messages.0: expected a message of user, assistant or tool, found 'hello'"),
    ("[", "not valid JSON: *"),
)  # fmt: skip


def test_bad_dialogues_are_a_line_each_and_the_others_are_drafted(empty_repo: Repository) -> None:
    good = chat([{"type": "text", "text": "Hello"}], "Hi.")
    write(empty_repo, chat(SAID, "Done."), *(line for line, _ in NOT_READ), good)
    result = assert_ended(empty_repo.command(*IMPORT), 1, "2 drafts in own/drafts; 7 left out")
    told = [f"left out: chats.jsonl: line {number}: {told}" for number, (_, told) in enumerate(NOT_READ, 2)]
    result.stderr.fnmatch_lines(told, consecutive=True)
    assert len([line for line in result.errlines if line]) == len(NOT_READ)


@pytest.mark.parametrize(
    ("command", "answer", "code", "told"),
    [
        (IMPORT, '{"goal": "x"}', 1, "left out: chat-0001, after 2 attempts: description: expected a text; *"),
        (FROM_CHAT, '{"goal": "x"}', 1, "the model's answers were refused 2 times: right: expected a list of texts; *"),
        (IMPORT, "", 4, "error: openai:x: the model answered nothing; *"),
        (FROM_CHAT, "", 4, "error: openai:x: the model answered nothing; *"),
    ],
)  # fmt: skip
def test_a_model_that_never_answers_well_is_asked_twice(
    empty_repo: Repository, endpoint: Endpoint, command: Sequence[str], answer: str, code: int, told: str
) -> None:
    endpoint.answer = lambda call: Reply(answer)
    said = [chat(TOLD, "Fine."), chat("What do I need?", "That.")][: 1 if command is IMPORT else 2]
    write(empty_repo, *said)
    assert_ended(empty_repo.command(*command, MODEL, "--attempts=2"), code, err=told)
    assert len(endpoint.calls) == 2


ASKED = "Set my usual alarm for tomorrow."
DINNER = (
    "I'm vegetarian, and Tom eats everything. Any ideas for dinner?", "Pasta!", "Good. What should I order at the Golden Lion?",
    "The beef burger.", "But I'm vegetarian, remember?",
)  # fmt: skip
BOT = "import pytest\n\n@pytest.fixture\ndef personalens_assistant():\n    return lambda messages, context: 'Your alarm is set for {}.'\n"
RUN = ("--personalens-suite=memory", "--personalens-data=own", "--personalens-sample=all")


def arc(repo: Repository) -> str:
    return (repo.path / "own" / "chats.toml").read_text(encoding="utf-8")


def test_the_bot_of_the_chat_fails_and_one_that_remembers_passes(empty_repo: Repository) -> None:
    wrong = (ASKED, "Your alarm is set for 7:30.", "No! I told you 6:40.", "Sorry.")
    write(empty_repo, chat(TOLD, "Done, 6:40 on workdays."), chat(*wrong))
    told = "written: own/chats.toml", "run: pytest --personalens-suite memory *"
    assert_ended(empty_repo.command(*FROM_CHAT), 0, *told)
    assert 'test = { right = ["6:40"], wrong = ["7:30"] }' in arc(empty_repo)
    assert "ada@example.com" not in arc(empty_repo)
    for time, code, lines in (("6:40", 0, "*"), ("7:30", 1, "*says 7:30*|*does not say 6:40*")):
        empty_repo.write(conftest=BOT.format(time))
        assert_ended(empty_repo.inline(*RUN), code, *lines.split("|"))


def test_what_a_person_must_decide_is_marked_and_no_run_begins_with_it(empty_repo: Repository) -> None:
    write(empty_repo, chat(*DINNER))
    (empty_repo.path / "names.txt").write_text("Tom\n", encoding="utf-8")
    result = empty_repo.command(*FROM_CHAT, "--names=names.txt")
    result.stdout.fnmatch_lines(["to do: domain: expected one of *", "then run: pytest *"])
    assert 'right = ["vegetarian"]' in arc(empty_repo)
    assert "[name] eats everything" in arc(empty_repo)
    assert "remember?" not in arc(empty_repo)
    assert_one_line(empty_repo.inline(*RUN), "*chats.toml: arcs.1.domain: expected one of *")
    assert_one_line(empty_repo.command(*FROM_CHAT), "*chats.toml: is there*")


@pytest.mark.parametrize(("kind", "test"), [("forget", "wrong"), ("recall", "right")])
def test_a_model_decides(empty_repo: Repository, endpoint: Endpoint, kind: str, test: str) -> None:
    write(empty_repo, chat(TOLD, "Fine."), chat("What do I need tomorrow?", "An umbrella."))
    answer: dict[str, object] = {"domain": "Alarms", "right": [], "wrong": []}
    answers = (answer, answer | {"domain": "Alarm", test: ["6:40 | 06:40"]})
    endpoint.replies = [Reply(json.dumps(answer)) for answer in answers]
    command = (*FROM_CHAT, f"--kind={kind}", MODEL)
    empty_repo.command(*command, "--estimate").stdout.fnmatch_lines(["incident *1 *"])
    assert (empty_repo.command(*command).ret, len(endpoint.calls)) == (0, 2)
    assert f'test = {{ {test} = ["6:40 | 06:40"] }}' in arc(empty_repo)
    assert "[mail]" in endpoint.calls[0].prompt
    assert "expected one of Alarm" in endpoint.calls[1].prompt
