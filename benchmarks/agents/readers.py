"""What blind readers made of the summaries: values recovered, and pairs with official records.

``python benchmarks/agents/readers.py`` counts the answers in ``data/agreement/readers.json``. The readers are
language models. They saw summaries without profiles, and pairs of records in shuffled order without their
origin. The official records are named by user and domain, because their text is not ours to publish. Answers
that mean a value in other words ("a quarter to eight" for 7:45 AM) are listed by a language model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_personalens.datasets import EmbeddedDataset

DATA = Path(__file__).resolve().parents[2] / "data"


def recovered(entries: Iterable[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return the number of values that readers were asked for, and those that they did not find."""
    dataset = EmbeddedDataset()
    asked, missed = 0, []
    for entry in entries:
        held = dataset.files.profile(entry["user"]).preferences(entry["domain"])
        for kind, values in held.items():
            answers = [_plain(text) for text in entry["answers"].get(kind) or ()]
            for value in values:
                asked += 1
                if not any(_same(_plain(value), answer) for answer in answers):
                    missed.append(_line(entry["user"], entry["domain"], kind, value))
    return asked, missed


def _line(user: str, domain: str, kind: str, value: str) -> str:
    return f"{user}, {domain}, {kind}: {value}"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9$+:. ]", "", text.lower()).strip()


def _same(value: str, answer: str) -> bool:
    """True if the answer names the value: one holds the other, or they share three words in five."""
    words = set(value.split())
    return bool(answer) and (
        value in answer or answer in value or len(words & set(answer.split())) >= 0.6 * len(words)
    )


def share(pairs: Iterable[dict[str, Any]], question: str, answer: object) -> float:
    """Return the share of answers to a question of all readers that are this one."""
    given = [reader[question] for pair in pairs for reader in pair["readers"].values()]
    return float(sum(one == answer for one in given) / len(given))


def main() -> None:
    """Print the shares, and the list of values that were not found."""
    data = json.loads((DATA / "agreement" / "readers.json").read_text(encoding="utf-8"))
    asked, unlike = recovered(data["recovered"])
    meant = {_line(*value) for value in data["in_other_words"]}
    missed = [line for line in unlike if line not in meant]
    print(
        f"values recovered, word for word: {asked - len(unlike)} of {asked} ({1 - len(unlike) / asked:.1%})"
    )
    print(f"or in other words: {asked - len(missed)} of {asked} ({1 - len(missed) / asked:.1%})")
    clear = sum(entry["clear"] for entry in data["recovered"])
    print(f"records understood at first reading, read alone: {clear} of {len(data['recovered'])}")
    pairs = data["pairs"]
    print(f"{len(pairs)} pairs, {len(pairs[0]['readers'])} readers each")
    print(f"ours preferred: {share(pairs, 'overall', 'ours'):.0%}")
    print(f"ours looks more like an assistant's memory: {share(pairs, 'memory', 'ours'):.0%}")
    print(f"understood at first reading, in pairs: ours {share(pairs, 'clear_ours', True):.0%},", end=" ")
    print(f"official {share(pairs, 'clear_official', True):.0%}")
    print("not recovered:", *missed, sep="\n  ")


if __name__ == "__main__":
    main()
