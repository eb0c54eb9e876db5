"""Small files in the exact layouts of the three benchmarks, with content of ours."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

SUITE = ("--personalens-suite", "questions", "--personalens-sample")
DATA = "--personalens-data"
#: What only a judge may see; it stands in every gold field and nowhere else.
SECRET = "goldfinch"
TYPES = (
    "single-session-user", "single-session-assistant", "single-session-preference", "temporal-reasoning",
    "knowledge-update", "multi-session",
)  # fmt: skip


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def prefeval(root: Path, topics: int = 2, each: int = 3) -> Path:
    """The folder of PrefEval: each form has the same topics, and two other conversations stand between."""
    base = root / "benchmark_dataset"
    for topic in (f"topic_{letter}" for letter in "abcdefgh"[:topics]):
        rows: list[dict[str, Any]] = [
            {"preference": f"I never want {topic} number {n}.", "question": f"What of {topic} do you suggest to me, number {n}?", "explanation": f"{SECRET}: number {n} is what most people would name."}
            for n in range(each)
        ]  # fmt: skip
        write(base / "explicit_preference" / f"{topic}.json", rows)
        talk = {"query": "Which one?", "assistant_options": "The red one or the blue one.", "user_selection": "The blue one.", "assistant_acknowledgment": "The blue one it is."}  # fmt: skip
        more = {
            "implicit_query": "Which one?", "options": ["red", "blue"], "conversation": talk, "aligned_op": "blue",
        }  # fmt: skip
        write(base / "implicit_preference/choice-based" / f"{topic}.json", [{**row, **more} for row in rows])
        told = {str(n): {"user": f"Turn {n}.", "assistant": f"Reply {n}."} for n in range(11)}
        persona = [{**row, "persona": f"{SECRET}: a sailor", "conversation": told} for row in rows]
        write(base / "implicit_preference/persona-driven" / f"{topic}.json", persona)
        options = [
            {**row, "classification_task_options": [f"The right one {n}", "A second", "A third", "A fourth"]}
            for n, row in enumerate(rows)
        ]
        write(base / "mcq_options" / f"{topic}.json", options)
    said = [[{"role": role, "content": f"Talk {talk}, {role} {turn}."} for turn in range(6) for role in ("user", "assistant")] for talk in range(2)]  # fmt: skip
    others = [
        {"conversation_id": f"c{n}", "model": "other", "conversation": talk} for n, talk in enumerate(said)
    ]
    write(base / "filtered_inter_turns.json", others)
    return root


def longmemeval_entry(number: int, kind: str, **changes: Any) -> dict[str, Any]:
    unanswerable = changes.pop("unanswerable", False)
    answer = "You never told me that." if unanswerable else f"the {SECRET}"
    return {
        "question_id": f"id{number}" + ("_abs" if unanswerable else ""),
        "question_type": kind,
        "question": f"Which bird did I see, number {number}?",
        "answer": answer if kind != "single-session-preference" else f"It should use that {SECRET} is a bird of the user's",
        "question_date": "2023/06/01 (Thu) 09:30",
        "haystack_session_ids": ["other_1", "answer_1"],
        "haystack_dates": ["2023/05/21 (Sun) 18:00", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "The weather?"}, {"role": "assistant", "content": "Fine."}],
            [
                {"role": "user", "content": f"I saw a yellow bird, number {number}.", "has_answer": True},
                {"role": "assistant", "content": "How nice.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_1"],
        **changes,
    }  # fmt: skip


def longmemeval(file: Path, each: int = 2) -> Path:
    """A file of LongMemEval with questions of each type, and one of each type that has no answer."""
    entries = [longmemeval_entry(n * 10 + m, kind) for n, kind in enumerate(TYPES) for m in range(each)]
    entries += [longmemeval_entry(n * 10, kind, unanswerable=True) for n, kind in enumerate(TYPES)]
    return write(file, entries)


def personamem_row(number: int, **changes: str) -> dict[str, str]:
    return {
        "persona_id": str(number // 2),
        "chat_history_32k_link": f"data/chat_history_32k/chat_history_persona{number // 2}.json",
        "chat_history_128k_link": "data/chat_history_128k/none.json",
        "user_query": repr({"role": "user", "content": f"What's for supper, number {number}?"}),
        "correct_answer": f"Soup number {number}",
        "incorrect_answers": json.dumps([f"Fish number {number}", "Rice", "It's bread"]),
        "preference": f"{SECRET} soup",
        "pref_type": "ask_to_forget" if number % 2 else "health",
        "related_conversation_snippet": f"{SECRET}",
        "who": "self" if number else "child",
        "updated": "True" if number == 1 else "False",
        "prev_pref": SECRET,
        "sensitive_info": "False",
        "distance_from_related_snippet_to_query_32k": str((0, 20_713, 3_000, 20_713)[number % 4]),
        **changes,
    }


def personamem(root: Path, rows: list[dict[str, str]] | None = None) -> Path:
    """The folder of PersonaMem-v2: two people with two questions each."""
    rows = rows if rows is not None else [personamem_row(number) for number in range(4)]
    table = root / "benchmark/text/benchmark.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for person in range(2):
        history = [
            {"role": "system", "content": "The user is a diver."},
            {"role": "user", "content": "I like soup."},
            {"role": "user", "content": "Please forget the soup."},
            {"role": "assistant", "content": "Forgotten."},
        ]
        content = {"metadata": {"persona_id": person, "input": SECRET}, "chat_history": history}
        write(root / f"data/chat_history_32k/chat_history_persona{person}.json", content)
    return root
