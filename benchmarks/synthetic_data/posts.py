"""Made-up posts in the processed layout of PersonaConvBench and of its size: what is measured at scale must
not need the official data.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The official figures (README of the official repository): users and posts. Posts of some 10 kB make a file
#: of some 200 MB.
USERS: Final = 3_878
POSTS: Final = 19_215

_DOMAINS: Final = ("worldnews", "science", "politics", "gaming", "life", "movies", "books", "Art")
#: Threads of a post, and comments of a thread, in which the author answers every third one.
_THREADS: Final = (4, 8)
_COMMENTS: Final = (2, 7)
_AUTHOR_EVERY: Final = 3
_START: Final = datetime(2024, 1, 1, tzinfo=UTC)
_SYLLABLES: Final = ("ka", "lo", "mi", "ren", "tu", "vas", "né", "or", "pel", "shi", "un", "gar")
#: Sentences are made once and taken again: a file of this size is to be written in seconds.
_SENTENCES: Final = 4_000


def write_posts(path: Path, *, users: int = USERS, posts: int = POSTS) -> Path:
    """Write a file with `posts` posts of `users` users, and return its path.

    Posts are shared out evenly. The same arguments give the same bytes.
    """
    sentences = list(_sentences(random.Random("sentences")))
    with path.open("w", encoding="utf-8") as file:
        file.write("{")
        for number in range(users):
            rng = random.Random(f"posts {number}")
            share = posts // users + (number < posts % users)
            file.write(f'{"," if number else ""}\n "{_name(number)}": [')
            _write_user(file, [_post(rng, number, users, at, sentences) for at in range(share)])
            file.write("]")
        file.write("\n}\n")
    return path


def _write_user(file: TextIO, posts: list[dict[str, Any]]) -> None:
    # The compact form is written by the C encoder, which is ten times as fast as the indented one.
    file.write(",\n  ".join(json.dumps(post, ensure_ascii=False) for post in posts))


def _post(rng: random.Random, user: int, users: int, at: int, sentences: list[str]) -> dict[str, Any]:
    time = _START + timedelta(days=30 * at + rng.randrange(30), seconds=rng.randrange(86_400))
    author = _name(user)
    return {
        "title": rng.choice(sentences),
        "url": f"https://example.invalid/{user}/{at}",
        "content": " ".join(rng.choices(sentences, k=rng.randrange(2, 12))),
        "__sub__": rng.choice(_DOMAINS),
        "score": _score(rng),
        "author": author,
        "timestamp": _iso(time),
        "comments": [_thread(rng, author, users, time, sentences) for _ in range(rng.randint(*_THREADS))],
    }


def _thread(
    rng: random.Random, author: str, users: int, time: datetime, sentences: list[str]
) -> dict[str, Any]:
    """A thread in which each comment answers an earlier one of the thread."""
    comments: list[dict[str, Any]] = []
    for number in range(1, rng.randint(*_COMMENTS) + 1):
        time += timedelta(seconds=60 + rng.randrange(7200))
        comment = {
            "body": " ".join(rng.choices(sentences, k=rng.randrange(1, 6))),
            "author": author if number % _AUTHOR_EVERY == 2 else _name(rng.randrange(users)),
            "score": _score(rng),
            "timestamp": _iso(time),
            "replies": [],
        }
        if comments:
            rng.choice(comments[-2:])["replies"].append(comment)
        comments.append(comment)
    return comments[0]


def _score(rng: random.Random) -> int:
    """A score with a long tail, a third of the scores below zero."""
    size = int(rng.paretovariate(0.9)) % 20_000
    return -size if rng.random() < 1 / 3 else size


def _sentences(rng: random.Random) -> Iterator[str]:
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randrange(1, 4))) for _ in range(5_000)]
    for _ in range(_SENTENCES):
        line = " ".join(rng.choices(words, k=rng.randrange(5, 20)))
        yield f"{line[0].upper()}{line[1:]}."


def _name(number: int) -> str:
    return f"u_{number:05}"


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    print(write_posts(Path(sys.argv[1])))
