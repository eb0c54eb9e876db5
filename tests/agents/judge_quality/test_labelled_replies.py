"""The labelled replies fit the tasks that they are about."""

from __future__ import annotations

import csv

from pytest_personalens.datasets import EmbeddedDataset
from tests.support.repository import ROOT


def test_each_reply_has_a_letter_for_each_part_of_its_goal() -> None:
    dataset, parts = EmbeddedDataset(), dict[str, int]()
    refs = {f"{ref.task}-{ref.user}": ref for user in dataset.users() for ref in dataset.refs(user)}
    with (ROOT / "data" / "agreement" / "replies.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert len(rows) > 3_000
    for row in rows:
        name = row["scenario"]
        task = refs[name].task
        if task not in parts:
            parts[task] = len(dataset.load(refs[name]).task.parts)
        assert len(row["states"]) == parts[task], name
        assert set(row["states"]) <= set("DWPOQHRM"), name
        assert row["reply"].strip(), name
    assert len(parts) == 111
