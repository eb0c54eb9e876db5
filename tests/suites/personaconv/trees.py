"""Posts as the official files hold them, invented for tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference"
CASES = REFERENCE / "persona_cases"
MINIMAL = REFERENCE / "persona_minimal.json"
NO_REFERENCE = "the cases of the reference (../shared/reference/persona_cases) are not there"
Posts = dict[str, list[dict[str, Any]]]
_START = datetime(2024, 5, 2, 8, tzinfo=UTC)


def at(minute: int) -> str:
    """The time so many minutes after the first post."""
    return (_START + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def comment(author: str, body: Any, minute: int, score: Any = 1, *replies: Any) -> dict[str, Any]:
    """A comment with its replies."""
    return {"body": body, "author": author, "score": score, "timestamp": at(minute), "replies": list(replies)}


def post(author: str, minute: int, /, *comments: Any, **fields: Any) -> dict[str, Any]:
    """A post with its comments; `fields` replace what it has, and None takes a field out."""
    found = {
        "title": f"Title {minute} of {author}", "url": f"https://example.invalid/{minute}", "content": f"Text {minute} of the post.",
        "__sub__": "life", "score": 31, "author": author, "timestamp": at(minute), "comments": list(comments), **fields,
    }  # fmt: skip
    return {key: value for key, value in found.items() if value is not None}


def talk(author: str, minute: int, score: Any = 7, **fields: Any) -> dict[str, Any]:
    """A post that every kind of both protocols can use: three comments, each with a reply of the author's."""
    threads = (
        ("bram", "First question", 3, "One", 2), ("cleo", "Second question", 2, "Two", 3), ("dov", "Third", 1, "Three", score),
    )  # fmt: skip
    comments = (
        comment(
            other,
            f"{asked} {minute}",
            minute + place,
            votes,
            comment(author, f"{said} {minute}", minute + place + 1, score_of_reply),
        )
        for place, (other, asked, votes, said, score_of_reply) in zip((1, 3, 5), threads, strict=True)
    )
    return post(author, minute, *comments, **fields)


def people(users: int = 3, posts: int = 3) -> Posts:
    """Users with so many posts each, in turns; every second target is voted down."""
    return {
        f"u_{user}": [
            talk(f"u_{user}", 1000 * number + 100 * user, 9 if (user + number) % 2 else -9)
            for number in range(posts)
        ]
        for user in range(users)
    }


def written(folder: Path, content: Any, name: str = "posts.json", **how: Any) -> Path:
    """A file of that content."""
    path = folder / name
    path.write_text(json.dumps(content, ensure_ascii=False, **how), encoding="utf-8")
    return path


def raw(posts: Posts) -> list[dict[str, Any]]:
    """The same posts in the raw layout."""
    return [post for of_user in posts.values() for post in of_user]


def json_lines(folder: Path, name: str, *rows: Any) -> Path:
    """A file with a line of JSON for each row."""
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
